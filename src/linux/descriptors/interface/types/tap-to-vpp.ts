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
 * The kernel's side of a TAP. VPP creates it in the agent's namespace under its own name. The agent moves
 * and renames it, and moves it back when the value is deleted, so that the next value finds it.
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
      checkField(key, !vppTap.includes('/'), 'tap.vpp_tap_if_name', 'contains a slash');
    },

    dependencies: (value) => [{ label: 'vpp-tap-interface-exists', key: vppTapKey(value) }],

    async create(value, ctx, undo, applySettings) {
      const vppTap = value.tap?.vpp_tap_if_name ?? '';
      const { hostIfName = '' } = ctx.metadata<VppInterfaceMetadata>(vppTapKey(value));
      const from = { namespace: undefined, name: hostIfName };
      const location = linkLocation(value);
      // mark first: the mark stays with the link when it is moved
      const marked = mark(from, marks.tap(value.name, vppTap, hostIfName));
      const moved = isSame(from, location) ? marked : host.moveLink(from, location);
      undo.add(() => ignoreNotFound(mark(from, '')));
      // move back only a link that was moved: another link in that location is unmanaged
      moved.then(
        () => isSame(from, location) || undo.add(() => host.moveLink(location, from)),
        () => undefined,
      );
      // a deleted namespace deletes the link: report the missing namespace
      await allSettled([moved, marked]);
      const { namespace } = location;
      const metadata = { namespace, hostIfName: location.name, vppHostIfName: hostIfName };
      await applySettings(metadata);
      return metadata;
    },

    /** VPP may have deleted the link already, or the pod's end its namespace. */
    async delete(_value, { namespace, hostIfName, vppHostIfName = '' }) {
      const location = { namespace, name: hostIfName };
      const back = { namespace: undefined, name: vppHostIfName };
      if (isSame(location, back)) {
        await ignoreNotFound(host.setLink(namespace, hostIfName, { up: false, alias: '' }));
        return;
      }
      await ignoreNotFound(host.moveLink(location, back));
      await ignoreNotFound(mark(back, ''));
    },
  };
}
