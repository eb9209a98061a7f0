import { readFileSync, writeFileSync } from 'node:fs';

const MEBIBYTE = 2 ** 20;
const PAGE = 4096;

/** What the operating system tells of a server from outside: a process that is busy cannot tell its own memory. */
export class ProcessWatch {
  constructor(private readonly pid: number) {}

  /** Resident memory in MiB. */
  rss(): number {
    return (Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1]) * PAGE) / MEBIBYTE;
  }

  /** From now on `peak` tells the highest since. */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  /** The highest resident memory in MiB, as the kernel keeps it. */
  peak(): number {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  /** Clients that are connected to a port of the process. */
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
