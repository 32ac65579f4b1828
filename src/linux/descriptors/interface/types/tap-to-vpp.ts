import { allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinkLocation, LinuxHost } from '../../../api.ts';
import { ignoreNotFound } from '../../ignored-errors.ts';
import type { LinkMarks } from '../../link-marks.ts';
import { linkLocation } from '../link-location.ts';
import type { LinkTypeHandler } from './handler.ts';

function vppTapKey(value: LinuxInterface): string {
  return vppInterfaceKey.build({ name: value.tap?.vpp_tap_if_name ?? '' });
}

function isSame(a: LinkLocation, b: LinkLocation): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}

/**
 * The kernel's side of a TAP. VPP has made it in the agent's namespace under a name of its own; it
 * is moved and renamed, and goes back when its value goes, so that the next one finds it.
 */
export function tapToVpp(host: LinuxHost, marks: LinkMarks): LinkTypeHandler {
  const mark = (at: LinkLocation, alias: string): Promise<void> =>
    host.setLink(at.namespace, at.name, { alias });

  return {
    type: 'TAP_TO_VPP',
    isShared: false,

    validate(key, { tap }) {
      const vppTap = tap?.vpp_tap_if_name ?? '';
      checkField(key, vppTap !== '', 'tap.vpp_tap_if_name', 'missing');
      checkField(key, !vppTap.includes('/'), 'tap.vpp_tap_if_name', 'has a slash');
    },

    dependencies: (value) => [{ label: 'vpp-tap-interface-exists', key: vppTapKey(value) }],

    async create(value, ctx, undo, settle) {
      const vppTap = value.tap?.vpp_tap_if_name ?? '';
      const { hostIfName = '' } = ctx.metadata<VppInterfaceMetadata>(vppTapKey(value));
      const from = { namespace: undefined, name: hostIfName };
      const place = linkLocation(value);
      // the mark goes first: it stays with the link when that is moved
      const marked = mark(from, marks.tap(value.name, vppTap, hostIfName));
      const moved = isSame(from, place) ? marked : host.moveLink(from, place);
      undo.add(() => ignoreNotFound(mark(from, '')));
      // only what was moved goes back: a link that was in the way is not ours
      moved.then(
        () => isSame(from, place) || undo.add(() => host.moveLink(place, from)),
        () => undefined,
      );
      // a namespace that goes takes the link along: that it has gone is the error to be told
      await allSettled([moved, marked]);
      const { namespace } = place;
      const metadata = { namespace, hostIfName: place.name, vppHostIfName: hostIfName };
      await settle(metadata);
      return metadata;
    },

    /** VPP may have taken the link away already, or the pod its namespace. */
    async delete(_value, { namespace, hostIfName, vppHostIfName = '' }) {
      const place = { namespace, name: hostIfName };
      const back = { namespace: undefined, name: vppHostIfName };
      if (isSame(place, back)) {
        await ignoreNotFound(host.setLink(namespace, hostIfName, { up: false, alias: '' }));
        return;
      }
      await ignoreNotFound(host.moveLink(place, back));
      await ignoreNotFound(mark(back, ''));
    },
  };
}
