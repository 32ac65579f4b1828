import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

const MILLISECOND = 1_000_000;
const SECOND = 1000 * MILLISECOND;

/** `govpp.conf`: the connection to VPP. */
export const govppSchema = Type.Object({
  'binapi-socket-path': Type.String({
    default: '/run/vpp/api.sock',
    description: "Unix socket of VPP's binary API.",
  }),
  'reply-timeout': Duration({
    leastMs: 100,
    default: 3 * SECOND,
    positive: true,
    description: 'Timeout of a request; when it expires, the agent reconnects to VPP.',
  }),
  'health-check-probe-interval': Duration({
    leastMs: 100,
    default: 3 * SECOND,
    positive: true,
    description: 'Interval between health probes (control_ping).',
  }),
  'health-check-reply-timeout': Duration({
    leastMs: 50,
    default: 500 * MILLISECOND,
    positive: true,
    description: 'Timeout of a health probe.',
  }),
  'health-check-threshold': Type.Integer({
    minimum: 1,
    default: 3,
    description: 'Number of consecutive missed health probes after which the agent reconnects.',
  }),
});
export type GovppConfig = Static<typeof govppSchema>;
