import { type VppClient, VppDisconnectedError } from '#vpp/binapi/api.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';

/** Requests that change nothing. */
const reading = new Set([
  'sw_interface_get_table',
  'feature_is_enabled',
  'flowprobe_get_params',
  'ip_neighbor_config_get',
  'ip_route_lookup_v2',
  'nat44_show_running_config',
  'show_version',
  // the descriptors only show
  'cli_inband',
  'acl_plugin_get_conn_table_max_entries',
  'control_ping',
]);

export function isReading(name: string): boolean {
  return reading.has(name);
}

/** A client whose n-th change is refused, or which dies at it. */
export class FaultyClient {
  readonly client: VppClient;
  /** Names of the changes that were asked for since the last `refuse` or `cut`. */
  readonly asked: string[] = [];
  /** Names of the dumps and reading requests since the last `refuse` or `cut`. */
  readonly read: string[] = [];
  /** Called with the number of each change. */
  onChange: ((n: number) => void) | undefined;
  #refuseAt = 0;
  #cutAt = 0;

  constructor(inner: VppClient) {
    const faults = this;
    this.client = {
      get state() {
        return inner.state;
      },
      get generation() {
        return inner.generation;
      },
      onStateChange: (listener) => inner.onStateChange(listener),
      has: (name) => inner.has(name),
      dump: (name, fields) => {
        faults.read.push(name);
        return inner.dump(name, fields);
      },
      dumpEach: (name, fields, take) => {
        faults.read.push(name);
        return inner.dumpEach(name, fields, take);
      },
      onEvent: (name, listener) => inner.onEvent(name, listener),
      async request(name, fields) {
        if (isReading(name)) faults.read.push(name);
        else faults.#change(name);
        return inner.request(name, fields);
      },
    };
  }

  get changes(): number {
    return this.asked.length;
  }

  refuse(n: number): void {
    this.#refuseAt = n;
    this.asked.length = 0;
    this.read.length = 0;
  }

  cut(n: number): void {
    this.#cutAt = n;
    this.asked.length = 0;
    this.read.length = 0;
  }

  #change(name: string): void {
    this.asked.push(name);
    this.onChange?.(this.changes);
    if (this.#cutAt > 0 && this.changes >= this.#cutAt)
      throw new VppDisconnectedError('cut by the test');
    if (this.changes === this.#refuseAt) throw new VppRefusedError(name, -1);
  }
}
