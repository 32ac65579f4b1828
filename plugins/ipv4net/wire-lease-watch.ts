/** Wiring of the DHCP leases: a change of the lease of the main interface becomes an event. */

import type { Component } from '#infra/process/lifecycle.ts';
import { type LeaseWatchDeps, watchLeases } from './lease-watch.ts';

export function wireLeaseWatch(deps: LeaseWatchDeps): Component {
  let close: () => void = () => undefined;
  return {
    name: 'DHCP lease watch',
    init: () => {
      close = watchLeases(deps);
    },
    close: () => close(),
  };
}
