import { FakeVpp } from '../fake-ports.ts';

/** A VPP with NICs of these names. */
export function fakeVppWithNics(...names: string[]): FakeVpp {
  const vpp = new FakeVpp();
  vpp.nics = names.map((internalName, swIfIndex) => ({
    swIfIndex,
    internalName,
    deviceType: 'dpdk',
    tag: '',
    mtu: 9000,
  }));
  return vpp;
}

/** Fields of a value that are not at their defaults. */
export function nonDefaultFields(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).filter(
      ([, field]) => field !== '' && field !== 0 && field !== false && field?.length !== 0,
    ),
  );
}
