import { allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinkLocation, LinuxHost } from '../../../api.ts';
import { ignoreErrno, ignoreNotFound } from '../../ignored-errors.ts';
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
 * The kernel's side of a TAP. VPP creates it under its own name, in the namespace of the value if it can, else in
 * the agent's. The agent moves or renames it, and moves or renames it back when the value is deleted, so that the
 * next value finds it.
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
      const made = ctx.metadata<VppInterfaceMetadata>(vppTapKey(value));
      const { hostIfName = '', hostNamespace } = made;
      const location = linkLocation(value);
      const { namespace } = location;
      const isInPlace = hostNamespace !== undefined && hostNamespace === namespace;
      const alias = marks.tap(value.name, vppTap, hostIfName, isInPlace);
      const place = async (from: LinkLocation): Promise<void> => {
        // mark first: the mark stays with the link when it is moved
        const marked = mark(from, alias);
        const moved = isSame(from, location) ? marked : host.moveLink(from, location);
        undo.add(() => ignoreNotFound(mark(from, '')));
        // move back only a link that was moved: another link in that location is unmanaged
        moved.then(
          () => isSame(from, location) || undo.add(() => host.moveLink(location, from)),
          () => undefined,
        );
        // a deleted namespace deletes the link: report the missing namespace
        await allSettled([moved, marked]);
      };
      const own = { namespace: undefined, name: hostIfName };
      const isThere =
        hostNamespace !== undefined &&
        (await ignoreErrno('ENODEV', place({ namespace: hostNamespace, name: hostIfName })));
      // a value that had it in yet another namespace has put it back into that of the agent
      if (!isThere) await place(own);
      const metadata = {
        namespace,
        hostIfName: location.name,
        vppHostIfName: hostIfName,
        ...(hostNamespace !== undefined && { vppHostNamespace: hostNamespace }),
      };
      await applySettings(metadata);
      return metadata;
    },

    /**
     * VPP may have deleted the link already, or the pod's end its namespace. A pod that may configure its links may have
     * given that name to another one: then the link stays, and VPP deletes it where it is.
     */
    async delete(_value, { namespace, hostIfName, vppHostIfName = '', vppHostNamespace }) {
      const location = { namespace, name: hostIfName };
      const back = { namespace: vppHostNamespace, name: vppHostIfName };
      const isBack =
        !isSame(location, back) &&
        (await ignoreErrno('EEXIST', ignoreNotFound(host.moveLink(location, back))));
      await ignoreNotFound(
        isBack ? mark(back, '') : host.setLink(namespace, hostIfName, { up: false, alias: '' }),
      );
    },
  };
}
