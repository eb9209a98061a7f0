import { readFileSync, writeFileSync } from 'node:fs';

const MEBIBYTE = 2 ** 20;
const PAGE_BYTES = 4096;

/** Measures a server process from outside, because a busy process could not report its own memory. */
export class ProcessWatch {
  constructor(private readonly pid: number) {}

  /** Resident memory in MiB. */
  rss(): number {
    return (Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / MEBIBYTE;
  }

  /** Resets `peak`. */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  /** The peak of the resident memory in MiB, from the kernel. */
  peak(): number {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  /** The number of clients that are connected to a port of the process. */
  clients(port: number): number {
    const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    return ['tcp', 'tcp6']
      .flatMap((family) => linesOf(`/proc/${this.pid}/net/${family}`))
      .filter((line) => {
        const [, near = '', , state] = line.trim().split(/\s+/);
        return near.endsWith(local) && state === ESTABLISHED;
      }).length;
  }
}

const ESTABLISHED = '01';

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(1);
}
