/** `GET /vpp/version`: VPP is upgraded apart from its agent, so `netctl status` shows both releases. */
import { VppVersion } from '#documents/vpp-version.ts';
import { json, type Route } from '#infra/http/route.ts';
import type { VppClient } from '#vpp/binapi/api.ts';

export function vppVersionRoute(client: VppClient): Route {
  return {
    method: 'GET',
    path: '/vpp/version',
    mutating: false,
    summary: 'release of VPP',
    reply: VppVersion,
    handle: async () => {
      const reply = await client.request('show_version', {});
      return json({
        program: reply.program,
        version: reply.version,
        buildDate: reply.build_date,
      });
    },
  };
}
