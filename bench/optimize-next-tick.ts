/**
 * Has V8 optimize `process.nextTick` before a server starts. If a garbage collection clears the types that V8 has seen in
 * it before it is optimized, it stays slow as long as the process lives, about 5 µs per request. That happens to some
 * processes of any server at random, and would decide more than what is measured.
 */
const CALLS = 20_000;

for (let call = 0; call < CALLS; call++) process.nextTick(ignore, call, call);

function ignore(): void {
  // A tick with two arguments, as most of Node's own.
}
