import type { Random } from '#infra/clock/clock.ts';
import { fromMac } from '#vpp/binapi/addresses.ts';
import type { LinkHandle } from '../linux/link.ts';
import type { SimLinux } from '../linux/linux.ts';

/** A link of the host that VPP uses; setters return false if the kernel rejects the change. */
export interface HostLink {
  readonly name: string;
  setUp(up: boolean): boolean;
  setMtu(mtu: number): boolean;
  setMac(mac: string): boolean;
  /** TAP: VPP closes it. */
  close(): void;
}

/** The machine that VPP runs on, as VPP uses it. */
export interface Host {
  /** Finds a link in the namespace of VPP. */
  find(name: string): HostLink | undefined;
  /** Undefined if the kernel rejects it: the name exists, or the namespace does not. */
  openTap(name: string, namespace: string | undefined): HostLink | undefined;
  randomMac(): string;
}

function succeeds(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function hostLink(handle: LinkHandle): HostLink {
  const change = (action: () => void) => !handle.deleted && succeeds(action);
  return {
    get name() {
      return handle.name;
    },
    setUp: (up) => change(() => handle.setUp(up)),
    setMtu: (mtu) => change(() => handle.setMtu(mtu)),
    setMac: (mac) => change(() => handle.setMac(mac)),
    close: () => handle.close(),
  };
}

/** `pid:7`, a path, or the name of a namespace. */
function pathOf(namespace: string): string {
  const pid = /^pid:(\d+)$/.exec(namespace)?.[1];
  if (pid !== undefined) return `/proc/${pid}/ns/net`;
  return namespace.startsWith('/') ? namespace : `/run/netns/${namespace}`;
}

/** @param linux undefined: TAPs have no host end, and no links exist */
export function simulatedHost(linux: SimLinux | undefined, random: Random): Host {
  const randomMac = () => {
    const bytes = random.bytes(6);
    bytes.set([0x02, 0xfe]);
    return fromMac(bytes);
  };
  if (!linux) {
    const done = () => true;
    return {
      find: () => undefined,
      openTap: (name) => ({
        name,
        setUp: done,
        setMtu: done,
        setMac: done,
        close: () => undefined,
      }),
      randomMac,
    };
  }
  return {
    find(name) {
      const handle = linux.linkHandle(name);
      return handle && hostLink(handle);
    },
    openTap(name, namespace) {
      try {
        const handle = linux.openTap(name, namespace === undefined ? undefined : pathOf(namespace));
        handle.setCarrier(true);
        return hostLink(handle);
      } catch {
        return undefined;
      }
    },
    randomMac,
  };
}
