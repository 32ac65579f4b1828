import type { VppClient } from '../binapi/api.ts';
import type { VppProcess } from './statistics.ts';

/** The VPP process behind the API connection: asked once for each connection. */
export class ConnectedProcess implements VppProcess {
  readonly #client: Pick<VppClient, 'request' | 'generation' | 'state'>;
  #known: { readonly generation: number; readonly pid: number } | undefined;

  constructor(client: Pick<VppClient, 'request' | 'generation' | 'state'>) {
    this.#client = client;
  }

  async pid(): Promise<number> {
    const { generation } = this.#client;
    if (this.#known?.generation === generation && this.#client.state === 'connected')
      return this.#known.pid;
    const { vpe_pid: pid } = await this.#client.request('control_ping', {});
    this.#known = { generation, pid };
    return pid;
  }
}
