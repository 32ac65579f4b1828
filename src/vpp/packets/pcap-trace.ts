/** VPP's `pcap trace`: it collects packets in its memory, and writes them to a file at the end. There is one at a time. */
import { constants } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { defineError } from '#infra/errors/errors.ts';
import type { VppClient } from '../binapi/api.ts';

/** VPP does not capture packets, or the agent cannot read its file. */
export const CaptureError = defineError({
  name: 'CaptureError',
  code: 'CV_CAPTURE',
  remedy:
    'Check with netctl vppcli NODE pcap trace status. The agent reads the file of VPP in /proc/PID/root/tmp: its pod needs hostPID and privileges, as the manifest has them.',
});

export interface PcapTraceDeps {
  readonly client: Pick<VppClient, 'request'>;
  /** The root folder of a process. */
  readonly rootOf: (pid: number) => string;
}

export class PcapTrace {
  readonly #deps: PcapTraceDeps;
  /** Each call of several commands waits for the one before. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: PcapTraceDeps) {
    this.#deps = deps;
  }

  /**
   * Begins one in the place of any other.
   * @param file its name: VPP accepts names in /tmp only
   * @param words what is traced
   */
  begin(file: string, words: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#end();
      await this.#begin(file, words);
    });
  }

  /** Unless there is one of another file. @returns whether it has begun */
  beginUnlessBusy(file: string, words: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const running = await this.#running();
      if (running !== undefined && running !== file) return false;
      await this.#end();
      await this.#begin(file, words);
      return true;
    });
  }

  /**
   * Ends it, also that of an agent that was killed.
   * @returns its file; empty without packets, and if it has ended
   * @throws CaptureError, and errors of VPP
   */
  end(file: string): Promise<Buffer> {
    return this.#inTurn(async () => {
      if ((await this.#running()) !== file) return Buffer.alloc(0);
      await this.#end();
      const path = await this.#pathOf(file);
      // everyone may write to /tmp of a host: no link of another one is followed
      const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
      const bytes = await readFile(path, { flag }).catch((thrown: NodeJS.ErrnoException) => {
        // VPP writes none without a packet.
        if (thrown.code === 'ENOENT') return Buffer.alloc(0);
        throw new CaptureError(thrown.message, { where: path, cause: thrown });
      });
      await rm(path, { force: true });
      return bytes;
    });
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const next = this.#last.then(run, run);
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #begin(file: string, words: string): Promise<void> {
    // of an agent that was killed
    await rm(await this.#pathOf(file), { force: true });
    await this.#cli(`pcap trace ${words} file ${file}`);
  }

  async #pathOf(file: string): Promise<string> {
    const { vpe_pid } = await this.#deps.client.request('control_ping', {});
    return `${this.#deps.rootOf(vpe_pid)}/tmp/${file}`;
  }

  /** VPP fails at the end of a capture without packets, which it has ended then, and of one that has ended itself. */
  async #end(): Promise<void> {
    if ((await this.#running()) === undefined) return;
    await this.#cli('pcap trace off').catch(async (thrown: unknown) => {
      if ((await this.#running()) !== undefined) throw thrown;
    });
  }

  /** The name of its file; undefined: there is none. */
  async #running(): Promise<string | undefined> {
    const status = await this.#cli('pcap trace status');
    if (!/capture enabled/.test(status)) return undefined;
    return /capture to file \/tmp\/(\S+)/.exec(status)?.[1] ?? '';
  }

  /** These commands do not wait, so they may run over the binary API. */
  async #cli(cmd: string): Promise<string> {
    return (await this.#deps.client.request('cli_inband', { cmd })).reply;
  }
}
