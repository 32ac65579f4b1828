/** `POST /vpp/capture`, for `netctl capture`. */
import { Type } from 'typebox';
import { CaptureSlice } from '#documents/capture.ts';
import { BadRequestError, json, NotFoundError, type Route } from '#infra/http/route.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { CaptureError } from '#vpp/packets/pcap-trace.ts';
import { vppName } from '../vpp-interface-name.ts';
import { Capture, type CaptureDeps } from './capture.ts';

const MAX_MS = 5_000;

const body = Type.Object({
  milliseconds: Type.Integer({ minimum: 1, maximum: MAX_MS }),
  swIfIndex: Type.Optional(
    Type.Integer({ description: 'Index of the interface in VPP; absent: all interfaces.' }),
  ),
});

export interface CaptureRoutesDeps extends CaptureDeps {
  readonly client: VppClient;
  readonly isSimulated: boolean;
}

export function captureRoutes(deps: CaptureRoutesDeps): Route[] {
  const capture = new Capture(deps);
  return [
    {
      method: 'POST',
      path: '/vpp/capture',
      mutating: true,
      summary:
        'capture packets that VPP receives and sends for some time: a slice in the format of pcap',
      body,
      reply: CaptureSlice,
      handle: async (request) => {
        const { milliseconds, swIfIndex } = asked(request.body);
        if (deps.isSimulated) throw new CaptureError('VPP is simulated: it forwards no packets');
        return json(await capture.slice(await interfaceName(deps.client, swIfIndex), milliseconds));
      },
    },
  ];
}

function asked(given: unknown): { milliseconds: number; swIfIndex: number | undefined } {
  const { milliseconds, swIfIndex } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (!isIndex(milliseconds) || milliseconds < 1 || milliseconds > MAX_MS)
    throw new BadRequestError(`milliseconds has to be a whole number from 1 to ${MAX_MS}`);
  if (swIfIndex !== undefined && !isIndex(swIfIndex))
    throw new BadRequestError('swIfIndex has to be the index of an interface of VPP');
  return { milliseconds, swIfIndex };
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_fffe;
}

async function interfaceName(client: VppClient, swIfIndex: number | undefined): Promise<string> {
  if (swIfIndex === undefined) return 'any';
  const name = await vppName(client, swIfIndex);
  if (name !== undefined) return name;
  throw new NotFoundError(`VPP has no interface with the index ${swIfIndex}`);
}
