/** VPP's figures and the requests to VPP, in the form of the original's telemetry. */
import { Type } from 'typebox';
import { type DocumentOf, orNull } from './document.ts';

/** Outputs of commands of VPP. */
export const CommandOutputs = Type.Array(
  Type.Object({ Command: Type.String(), Output: Type.String() }),
);

const number = Type.Number();
const integer = Type.Integer();

export const MemoryTelemetry = Type.Object({
  threads: Type.Array(
    Type.Object({
      id: integer,
      name: Type.String(),
      size: integer,
      objects: integer,
      used: integer,
      total: integer,
      free: integer,
      reclaimed: integer,
      overhead: integer,
      pages: integer,
      page_size: integer,
    }),
  ),
});

export const RuntimeTelemetry = Type.Object({
  threads: Type.Array(
    Type.Object(
      {
        id: integer,
        name: Type.String(),
        time: number,
        avg_vectors_per_node: number,
        last_main_loops: number,
        vectors_per_main_loop: number,
        vector_length_per_node: number,
        vector_rates_in: number,
        vector_rates_out: number,
        vector_rates_drop: number,
        vector_rates_punt: number,
        items: orNull(
          Type.Array(
            Type.Object({
              index: integer,
              name: Type.String(),
              state: Type.String(),
              calls: number,
              vectors: number,
              suspends: number,
              clocks: number,
              vectors_per_call: number,
            }),
          ),
          'null: none.',
        ),
      },
      { description: 'One thread stands for all: the statistics are sums.' },
    ),
  ),
});

export const NodeCounters = Type.Object({
  counters: orNull(
    Type.Array(Type.Object({ value: number, node: Type.String(), name: Type.String() })),
    'null: none.',
  ),
});

const totals = {
  channels_created: Type.Optional(integer),
  channels_open: Type.Optional(integer),
  requests_sent: Type.Optional(integer),
  requests_done: Type.Optional(integer),
  requests_fail: Type.Optional(integer),
  request_replies: Type.Optional(integer),
};

/** Fields that are 0 are left out. */
export const CallTotals = Type.Object(totals);

const CallDocument = Type.Object(
  {
    name: Type.Optional(Type.String()),
    count: integer,
    total: Type.Optional(number),
    avg: Type.Optional(number),
    min: Type.Optional(number),
    max: Type.Optional(number),
  },
  { description: 'Seconds.' },
);
export type CallDocument = DocumentOf<typeof CallDocument>;

export const CallStatistics = Type.Object({
  ...totals,
  Errors: Type.Array(CallDocument),
  AllMessages: CallDocument,
  Messages: Type.Array(CallDocument),
  Replies: Type.Array(CallDocument),
});
