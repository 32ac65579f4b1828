/** The subnets that the node uses, in the local store. */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import type { KvStore } from '#datastore/api.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import { causedError, FatalError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext, UpdateContext } from '#plugins/controller/api/event-handler.ts';

export const PLAN_KEY = 'local/ipam/plan';

/** As in the local store. */
const RecordedSettings = Type.Object({
  contivCidr: Type.String(),
  podSubnetCidr: Type.String(),
  podSubnetOneNodePrefixLen: Type.Number(),
  vppHostSubnetCidr: Type.String(),
  vppHostSubnetOneNodePrefixLen: Type.Number(),
  // records of earlier releases lack those of one family; 0 is not written
  podSubnetOneNodePrefixLenIpv4: Type.Number({ default: 0 }),
  podSubnetOneNodePrefixLenIpv6: Type.Number({ default: 0 }),
  vppHostSubnetOneNodePrefixLenIpv4: Type.Number({ default: 0 }),
  vppHostSubnetOneNodePrefixLenIpv6: Type.Number({ default: 0 }),
  nodeInterconnectCidr: Type.String(),
  vxlanCidr: Type.String(),
});
type RecordedSettings = Static<typeof RecordedSettings>;

/** Their keys in contiv.conf. */
const configKeys: Readonly<Record<keyof RecordedSettings, string>> = {
  contivCidr: 'contivCIDR',
  podSubnetCidr: 'podSubnetCIDR',
  podSubnetOneNodePrefixLen: 'podSubnetOneNodePrefixLen',
  vppHostSubnetCidr: 'vppHostSubnetCIDR',
  vppHostSubnetOneNodePrefixLen: 'vppHostSubnetOneNodePrefixLen',
  podSubnetOneNodePrefixLenIpv4: 'podSubnetOneNodePrefixLenIPv4',
  podSubnetOneNodePrefixLenIpv6: 'podSubnetOneNodePrefixLenIPv6',
  vppHostSubnetOneNodePrefixLenIpv4: 'vppHostSubnetOneNodePrefixLenIPv4',
  vppHostSubnetOneNodePrefixLenIpv6: 'vppHostSubnetOneNodePrefixLenIPv6',
  nodeInterconnectCidr: 'nodeInterconnectCIDR',
  vxlanCidr: 'vxlanCIDR',
};

const settings = Object.keys(configKeys) as readonly (keyof RecordedSettings)[];

export class PlanRecord {
  readonly #store: KvStore;
  #recorded: RecordedSettings | undefined;
  /** The last write has failed, so that the disk may have others. */
  #isUncertain = false;

  /** @throws FatalError: without the record, a changed subnet would cut off running pods */
  static async readBack(ctx: ResyncContext, store: KvStore): Promise<PlanRecord> {
    let text: string | null;
    try {
      text = await ctx.callPort(
        'local store/get subnets',
        async () => (await store.get(PLAN_KEY)) ?? null,
      );
    } catch (cause) {
      throw causedError(FatalError, 'cannot read the subnets from the local store', cause);
    }
    return new PlanRecord(store, recordedSettings(text));
  }

  private constructor(store: KvStore, recorded: RecordedSettings | undefined) {
    this.#store = store;
    this.#recorded = recorded;
  }

  /** The configuration with the recorded subnets; undefined if there is no record. */
  recorded(config: IpamConfig): IpamConfig | undefined {
    return this.#recorded && { ...config, ...this.#recorded };
  }

  /** Settings that differ from the record, as `key: value, before value`. */
  changes(config: IpamConfig): string[] {
    const before = this.#recorded;
    if (!before) return [];
    return settings
      .filter((name) => config[name] !== before[name])
      .map((name) => `${configKeys[name]} ${shown(before[name])} to ${shown(config[name])}`);
  }

  /** Records the subnets. Pods are configured without a disk, too: `ensureWritten` follows. */
  async tryWrite(ctx: ResyncContext, config: IpamConfig): Promise<void> {
    try {
      await this.ensureWritten(ctx, config);
    } catch (cause) {
      ctx.log.warn({ reason: errorText(cause) }, 'cannot record the subnets of this node');
    }
  }

  /**
   * To be called before an address is allocated from the subnets: a resync that was aborted may have recorded others.
   * @throws StoreUnavailableError …
   */
  async ensureWritten(ctx: Pick<UpdateContext, 'callPort'>, config: IpamConfig): Promise<void> {
    if (this.#recorded && !this.#isUncertain && this.changes(config).length === 0) return;
    const settings = settingsOf(config);
    const text = recordText(settings);
    this.#isUncertain = true;
    await ctx.callPort('local store/put subnets', () => this.#store.put(PLAN_KEY, text));
    this.#isUncertain = false;
    this.#recorded = settings;
  }
}

function settingsOf(config: RecordedSettings): RecordedSettings {
  return Object.fromEntries(settings.map((name) => [name, config[name]])) as RecordedSettings;
}

function shown(value: string | number): string {
  return value === '' ? '(none)' : String(value);
}

/** The record of a cluster without keys of one family is as earlier releases write it. */
function recordText(recorded: RecordedSettings): string {
  return JSON.stringify(recorded, (key, value) =>
    /Ipv[46]$/.test(key) && value === 0 ? undefined : value,
  );
}

/** @returns undefined for a text that is not a record; it is replaced */
function recordedSettings(text: string | null): RecordedSettings | undefined {
  try {
    const value: unknown = Value.Default(RecordedSettings, JSON.parse(text ?? 'null'));
    return Value.Check(RecordedSettings, value) ? settingsOf(value) : undefined;
  } catch {
    return undefined;
  }
}
