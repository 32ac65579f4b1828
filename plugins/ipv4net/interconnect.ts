import { hostTap, hostVeth } from './names.ts';
import type { Site } from './site.ts';

/** Logical name of the side of VPP of the link between VPP and the host. */
export function hostInterconnectName(site: Pick<Site, 'interfaces'>): string {
  return (site.interfaces.useTap ? hostTap : hostVeth).vpp;
}

/** Logical name of the host's side. */
export function hostSideName(site: Pick<Site, 'interfaces'>): string {
  return (site.interfaces.useTap ? hostTap : hostVeth).linux;
}
