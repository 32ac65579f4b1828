/** Links of a host where a program of the kernel leads clients outside to VPP, and replies back. */
import type { LinuxInterface } from '#models/linux/interface.ts';
import { type ServiceLink, serviceLinkModel } from '#models/linux/service-link.ts';
import { type Values, valuesOf } from './values.ts';

export interface LinkProgram {
  /** Of the value. */
  readonly key: string;
  /** Absent: it is the link to VPP. */
  readonly toVpp: NextHop | undefined;
}

export interface NextHop {
  readonly interface: string;
  readonly address: string;
}

/** Programs by interface. */
export function linkPrograms(
  all: ReadonlyMap<string, unknown>,
  links: Values<LinuxInterface>,
): ReadonlyMap<string, LinkProgram> {
  const managed = new Map(
    [...links.values()].map(({ name, host_if_name }) => [host_if_name || name, name]),
  );
  const nameOf = (link: string): string => managed.get(link) ?? link;
  return new Map(
    [...valuesOf<ServiceLink>(serviceLinkModel, all)].map(
      ([key, { host_if_name, vpp_link, gw_addr }]) => {
        const toVpp =
          vpp_link === '' ? undefined : { interface: nameOf(vpp_link), address: gw_addr };
        return [nameOf(host_if_name), { key, toVpp }];
      },
    ),
  );
}
