/** REST routes of the VPP connection. */

import { Type } from 'typebox';
import { BadRequestError, json, type Route } from '#infra/http/route.ts';
import type { VppClient } from './binapi/api.ts';

const commandBody = Type.Object({ vppclicommand: Type.String() });

/** A VPP CLI command, as netctl sends it: `{"vppclicommand": "show interface"}`. */
function command(body: unknown): string {
  const text = (body as { vppclicommand?: unknown } | null | undefined)?.vppclicommand;
  if (typeof text !== 'string' || text.trim() === '')
    throw new BadRequestError('the body must be {"vppclicommand": "<VPP CLI command>"}');
  return text;
}

/** `show wireguard interface` has the private key of each interface, as base64 and in hexadecimal digits. */
export function withoutPrivateKeys(text: string): string {
  return text.replaceAll(/private-key:\S+(\s+[0-9a-f]{64})?/g, 'private-key:(hidden)');
}

export function vppRoutes(client: VppClient): Route[] {
  return [
    {
      method: 'POST',
      path: '/vpp/command',
      mutating: true,
      summary: 'run a VPP CLI command: body {"vppclicommand": "…"}; returns its output',
      body: commandBody,
      reply: Type.String({ description: 'output of the command' }),
      handle: async ({ body }) => {
        const { reply } = await client.request('cli_inband', { cmd: command(body) });
        return json(withoutPrivateKeys(reply));
      },
    },
  ];
}
