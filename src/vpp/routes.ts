/** REST of VPP itself. */

import { errorText } from '#infra/errors/errors.ts';
import { BadRequestError, failure, json, type Route } from '#infra/http/route.ts';
import type { VppClient } from './binapi/api.ts';

/** A command of VPP's CLI, as netctl sends it: `{"vppclicommand": "show interface"}`. */
function command(body: unknown): string {
  const text = (body as { vppclicommand?: unknown } | null | undefined)?.vppclicommand;
  if (typeof text !== 'string' || text.trim() === '')
    throw new BadRequestError('the body has to be {"vppclicommand": "<command of VPP\'s CLI>"}');
  return text;
}

export function vppRoutes(client: VppClient): Route[] {
  return [
    {
      method: 'POST',
      path: '/vpp/command',
      mutating: true,
      summary: 'run a command of the CLI of VPP: body {"vppclicommand": "…"}; answers its output',
      handle: async ({ body }) => {
        const cmd = command(body);
        try {
          return json((await client.request('cli_inband', { cmd })).reply);
        } catch (error) {
          return failure(500, errorText(error));
        }
      },
    },
  ];
}
