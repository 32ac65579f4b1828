/** REST: the documents of the original agent that no component of this one has. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import type { BuildInfo } from '#infra/status/status.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { LinuxHost } from '#linux/api.ts';
import { accessListDocuments } from './documents/access-lists.ts';
import { layer2Documents } from './documents/layer2.ts';
import { layer3Documents } from './documents/layer3.ts';
import { linuxInterfaceDocuments } from './documents/linux-interfaces.ts';
import { linuxLayer3Documents } from './documents/linux-layer3.ts';
import { nat44Documents } from './documents/nat44.ts';
import { puntSocketDocuments } from './documents/punt-sockets.ts';
import { unavailableDocuments } from './documents/unavailable.ts';
import { versionDocument } from './documents/version.ts';
import { vppInterfaceDocuments } from './documents/vpp-interfaces.ts';
import { Southbound } from './southbound.ts';

export interface CompatibilityRoutesDeps {
  readonly scheduler: Scheduler;
  readonly linux: LinuxHost;
  readonly build: BuildInfo;
  readonly clock: Clock;
}

export function compatibilityRoutes({
  scheduler,
  linux,
  build,
  clock,
}: CompatibilityRoutesDeps): Route[] {
  const deps = { southbound: new Southbound(scheduler), clock };
  return [
    ...vppInterfaceDocuments(deps),
    ...layer2Documents(deps),
    ...layer3Documents(deps),
    ...accessListDocuments(deps),
    ...nat44Documents(deps),
    ...puntSocketDocuments(deps),
    ...linuxInterfaceDocuments(deps, linux),
    ...linuxLayer3Documents(deps, linux),
    versionDocument(build, clock),
    ...unavailableDocuments(),
  ];
}
