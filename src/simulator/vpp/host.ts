import type { Random } from '#infra/clock/clock.ts';
import { fromMac } from '#vpp/binapi/addresses.ts';
import type { LinkHandle } from '../linux/link.ts';
import type { SimLinux } from '../linux/linux.ts';

/** A link of the host that VPP holds; false says that the kernel refused. */
export interface HostLink {
  readonly name: string;
  setUp(up: boolean): boolean;
  setMtu(mtu: number): boolean;
  setMac(mac: string): boolean;
  /** Of a TAP: VPP lets go of it. */
  close(): void;
}

/** The machine that VPP runs on, in VPP's eyes. */
export interface Host {
  /** Of the namespace of VPP itself. */
  find(name: string): HostLink | undefined;
  /** Undefined when the kernel refuses: the name is taken, there is no such namespace. */
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

/** @param linux undefined: TAPs have no end on the host, and there is nothing to bind to */
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
