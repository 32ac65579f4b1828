/**
 * The NICs that were taken from the host. Their records are on the disk before a NIC is touched, and until
 * it is back with all that it had: after a crash at any step, a start continues with `releasing` or undoes
 * a steal that did not reach the driver.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { HostLink, HostNetwork } from './host-network.ts';
import { readNic } from './nic-reader.ts';
import type { NicRecord } from './nic-record.ts';
import type { PciDevices } from './pci-devices.ts';
import type { RecordStore } from './record-store.ts';
import { ATTEMPT_PAUSE_MS, ATTEMPTS, restoreConfiguration } from './restoration.ts';

export const NicNotStolenError = defineError({
  name: 'NicNotStolenError',
  code: 'CV_STN_NOT_STOLEN',
  rejects: 'configuration',
  remedy:
    'Check the name of the NIC (stealInterface); contiv-stn takes it when contiv-init asks it to.',
});

export const NicGivenBackError = defineError({
  name: 'NicGivenBackError',
  code: 'CV_STN_GIVEN_BACK',
  rejects: 'configuration',
  remedy: 'None: contiv-init ends VPP, which may still use the NIC, and asks for it again.',
});

export const NicNotRestoredError = defineError({
  name: 'NicNotRestoredError',
  code: 'CV_STN_NOT_RESTORED',
  isRetriable: true,
  remedy:
    'contiv-stn tries again by itself. If it stays, end VPP, and configure the NIC from its file in --state-dir.',
});

/** Driver that VPP prefers. VPP binds the device to it itself if that fails here. */
const VPP_DRIVER = 'vfio-pci';
/** After a release, DHCP clients and scripts of the host may change the NIC again. */
const CHECK_MS = 3_000;
/** Of a NIC that is bound to its driver, until what is missing is left to the operator. */
const MAXIMUM_CHECKS = 20;

export interface StolenNicsDeps {
  readonly network: HostNetwork;
  readonly pci: PciDevices;
  readonly store: RecordStore;
  readonly bootId: string;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly log: Logger;
}

/** The next check of a NIC that is being released. */
interface Check {
  readonly due: number;
  readonly count: number;
}

export class StolenNics {
  readonly #deps: StolenNicsDeps;
  readonly #records = new Map<string, NicRecord>();
  readonly #checks = new Map<string, Check>();
  readonly #problems = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: StolenNicsDeps) {
    this.#deps = deps;
  }

  /** Why a NIC is not as it should be; undefined: none. */
  get problem(): string | undefined {
    const [first] = this.#problems.values();
    return first;
  }

  /** Whether VPP may use a NIC. */
  get isAnyStolen(): boolean {
    return this.#stolen().length > 0;
  }

  /** Reads the records of an earlier run. @throws StnStateError */
  start(): Promise<void> {
    return this.#serially(async () => {
      for (const record of await this.#deps.store.load()) await this.#adopt(record);
    });
  }

  /** @throws NicNotStealableError, StnStateError, PciDriverError: then the host keeps the NIC */
  steal(name: string, dhcp: boolean): Promise<NicRecord> {
    return this.#serially(async () => {
      const { log } = this.#deps;
      const known = this.#records.get(name);
      if (known?.state === 'stolen' && !this.#isBack(known)) {
        log.info({ nic: name }, 'the NIC is stolen already');
        return known;
      }
      const record = this.#recordOf(name, dhcp, known);
      await this.#deps.store.save(record);
      this.#remember(record);
      try {
        await this.#take(record);
      } catch (thrown) {
        log.error({ nic: name, err: thrown }, 'the NIC cannot be stolen: it is given back');
        await this.#release(record).catch(() => undefined);
        throw thrown;
      }
      const { pciAddress, driver, addresses } = record;
      const cidrs = addresses.map(({ address }) => address);
      log.info({ nic: name, pciAddress, driver, addresses: cidrs }, 'the NIC is stolen');
      return record;
    });
  }

  /** @throws NicNotStolenError, PciDriverError, NicNotRestoredError: then it is tried again by itself */
  release(name: string): Promise<void> {
    return this.#serially(async () => {
      const record = this.#records.get(name);
      if (!record)
        throw new NicNotStolenError('the NIC was not stolen, or is given back already', {
          where: `NIC ${JSON.stringify(name)}`,
        });
      await this.#release(record);
    });
  }

  /** Releases all stolen NICs; what fails is tried again by `check`. */
  releaseAll(): Promise<void> {
    return this.#serially(async () => {
      for (const record of this.#stolen()) await this.#release(record).catch(() => undefined);
    });
  }

  /** @param name empty: the first one @throws NicNotStolenError, NicGivenBackError */
  info(name: string): Promise<NicRecord> {
    const find = async (): Promise<NicRecord> => {
      const found = this.#stolen().find((record) => name === '' || record.name === name);
      if (found) return found;
      if (name === '') throw new NicNotStolenError('no NIC was stolen');
      const where = `NIC ${JSON.stringify(name)}`;
      if (this.#isReleasing(name))
        throw new NicGivenBackError('the NIC is being given back to the host', { where });
      throw new NicNotStolenError('the NIC was not stolen', { where });
    };
    // At once: the release may wait for the VPP that is asking.
    return this.#isReleasing(name) ? find() : this.#serially(find);
  }

  /** Checks the released NICs whose time has come, and restores what is missing. */
  check(): Promise<void> {
    return this.#serially(async () => {
      const now = this.#deps.clock.monotonic();
      for (const [name, { due }] of this.#checks)
        if (due <= now) await this.#check(this.#records.get(name)!);
    });
  }

  /** Calls do not overlap. */
  #serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #stolen(): readonly NicRecord[] {
    return [...this.#records.values()].filter(({ state }) => state === 'stolen');
  }

  #isReleasing(name: string): boolean {
    return this.#records.get(name)?.state === 'releasing';
  }

  /** Whether the host has the NIC, by a crash before it was taken or by hand. */
  #isBack({ pciAddress, driver }: NicRecord): boolean {
    return this.#deps.pci.driverOf(pciAddress) === driver;
  }

  #remember(record: NicRecord): void {
    this.#records.set(record.name, record);
    this.#checks.delete(record.name);
    this.#problems.delete(record.name);
  }

  async #adopt(record: NicRecord): Promise<void> {
    const { log, bootId, store } = this.#deps;
    const { name, state } = record;
    const isBack = this.#isBack(record);
    if (record.bootId !== bootId && isBack) {
      log.info({ nic: name }, 'the host has booted since the NIC was stolen, and has it back');
      await store.remove(name);
      return;
    }
    const isStolen = state === 'stolen' && !isBack && record.bootId === bootId;
    this.#records.set(name, isStolen ? record : { ...record, state: 'releasing' });
    if (!isStolen) this.#checks.set(name, { due: 0, count: 0 });
    log.info(
      { nic: name },
      isStolen
        ? 'the NIC was stolen by an earlier run'
        : 'an earlier run has not given back the NIC',
    );
  }

  /** The stored configuration, unless the NIC is back on the host and was configured there since. */
  #recordOf(name: string, dhcp: boolean, known: NicRecord | undefined): NicRecord {
    const { network, bootId } = this.#deps;
    if (!known) return readNic(this.#deps, name, dhcp);
    const link = this.#findLink(known);
    const isConfigured =
      known.state === 'stolen' &&
      link !== undefined &&
      network.addresses(link.index).some(({ address }) => !address.startsWith('fe80:'));
    if (isConfigured) return readNic(this.#deps, name, dhcp);
    return { ...known, dhcp, bootId, state: 'stolen' };
  }

  async #take(record: NicRecord): Promise<void> {
    const { network, pci, log } = this.#deps;
    const { name, pciAddress } = record;
    const link = this.#findLink(record);
    // Down first: without the addresses no client renews a lease while the driver ends.
    if (link) network.setLink(link.index, { up: false });
    await pci.unbind(pciAddress);
    if (!pci.isLoaded(VPP_DRIVER)) return;
    await pci.bind(pciAddress, VPP_DRIVER).catch((error: unknown) => {
      log.info({ nic: name, pciAddress, error: errorText(error) }, `VPP selects the driver itself`);
    });
  }

  async #release(record: NicRecord): Promise<void> {
    const { store, log } = this.#deps;
    const { name } = record;
    const releasing: NicRecord = { ...record, state: 'releasing' };
    this.#remember(releasing);
    // The NIC is given back in any case. After a crash it would be stolen, and given back later.
    await store.save(releasing).catch((error: unknown) => {
      log.warn({ nic: name, err: error }, 'cannot record that the NIC is given back');
    });
    await this.#restore(releasing, 0);
    log.info({ nic: name }, 'the NIC is given back to the host');
  }

  /** @param count of the checks before @throws PciDriverError, NicNotRestoredError */
  async #restore(record: NicRecord, count: number): Promise<void> {
    const { clock, pci } = this.#deps;
    const { name, pciAddress, driver } = record;
    try {
      await pci.bind(pciAddress, driver);
      const link = await this.#awaitLink(record);
      const missing = await restoreConfiguration(this.#deps, record, link);
      if (missing.length > 0)
        throw new NicNotRestoredError(`missing on the host: ${missing.join('; ')}`, {
          where: `NIC ${JSON.stringify(name)}`,
        });
      this.#problems.delete(name);
    } catch (thrown) {
      this.#problems.set(name, errorText(thrown));
      throw thrown;
    } finally {
      this.#checks.set(name, { due: clock.monotonic() + CHECK_MS, count: count + 1 });
    }
  }

  async #check(record: NicRecord): Promise<void> {
    const { store, log } = this.#deps;
    const { name } = record;
    const { count } = this.#checks.get(name)!;
    try {
      await this.#restore(record, count);
    } catch (thrown) {
      const isLast = count >= MAXIMUM_CHECKS && this.#isBack(record);
      if (!isLast) {
        log.warn({ nic: name, err: thrown }, 'the NIC is not given back completely');
        return;
      }
      log.error(
        { nic: name, record, err: thrown },
        'the NIC is given back without what is missing',
      );
    }
    try {
      await store.remove(name);
    } catch (error) {
      log.warn({ nic: name, err: error }, 'cannot remove the record of a NIC that is given back');
      return;
    }
    this.#records.delete(name);
    this.#checks.delete(name);
    log.info({ nic: name }, 'the host has its NIC as it was');
  }

  /** The link of the device, which may have another name after the driver was bound. */
  #findLink({ name, pciAddress }: NicRecord): HostLink | undefined {
    const { network, pci } = this.#deps;
    const names = pci.linksOf(pciAddress);
    const links = network.links().filter((link) => names.includes(link.name));
    return links.find((link) => link.name === name) ?? links[0];
  }

  /** udev may still rename it. */
  async #awaitLink(record: NicRecord): Promise<HostLink> {
    for (let attempt = 1; ; attempt++) {
      const link = this.#findLink(record);
      if (link?.name === record.name || (link && attempt === ATTEMPTS)) return link;
      if (attempt === ATTEMPTS)
        throw new NicNotRestoredError(`the driver ${record.driver} has made no link`, {
          where: `NIC ${JSON.stringify(record.name)}`,
        });
      await this.#deps.clock.sleep(ATTEMPT_PAUSE_MS);
    }
  }
}
