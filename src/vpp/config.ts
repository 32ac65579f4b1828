import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

const MILLISECOND = 1_000_000;
const SECOND = 1000 * MILLISECOND;

/** `govpp.conf`: the connection to VPP. */
export const govppSchema = Type.Object({
  'binapi-socket-path': Type.String({
    default: '/run/vpp/api.sock',
    description: 'Unix socket of the binary API.',
  }),
  'reply-timeout': Duration({
    default: 3 * SECOND,
    positive: true,
    description: 'Limit of one request; past it the connection is dropped and made anew.',
  }),
  'health-check-probe-interval': Duration({
    default: 3 * SECOND,
    positive: true,
    description: 'How often VPP is pinged.',
  }),
  'health-check-reply-timeout': Duration({
    default: 500 * MILLISECOND,
    positive: true,
    description: 'Limit of a ping.',
  }),
  'health-check-threshold': Type.Integer({
    minimum: 1,
    default: 3,
    description: 'So many pings missed in a row drop the connection.',
  }),
});
export type GovppConfig = Static<typeof govppSchema>;
