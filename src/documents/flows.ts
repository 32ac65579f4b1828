import { Type } from 'typebox';
import { count, type DocumentOf, text } from './document.ts';

export const flowProtocols = ['TCP', 'UDP'] as const;

/** Outcomes of a connection. */
export const flowVerdicts = ['open', 'refused', 'no-answer', 'denied'] as const;

export const FlowEnd = Type.Object({
  address: text('As the socket sees it; a prefix if addresses outside are shortened.'),
  port: Type.Optional(
    count(
      'Absent: that of a client whose address is shortened. Of a client of UDP: of its first socket.',
    ),
  ),
  kind: Type.Union(
    [Type.Literal('pod'), Type.Literal('node'), Type.Literal('service'), Type.Literal('outside')],
    { description: 'service: VPP translates its address; which pod has answered is not known.' },
  ),
  name: text(
    '`<namespace>/<name>` of a pod or service, the name of a node; empty for an address outside.',
  ),
  workload: text('`<namespace>/<name>` of the controller of the pod; for other ends as `name`.'),
});
export type FlowEnd = DocumentOf<typeof FlowEnd>;

export const Flow = Type.Object({
  id: text('Distinguishes the records of one node, also after a restart of its agent.'),
  node: text('Name of the node whose kernel has seen it.'),
  seenBy: Type.Optional(
    Type.Union([Type.Literal('vpp'), Type.Literal('probe')], {
      description:
        'vpp: VPP has denied packets, of which it has kept some, and no socket of this node has sent them: `time` and `ended` are those of the first and the last one that were kept. probe: VPP has counted the packets of a memif. Absent: a socket.',
    }),
  ),
  side: Type.Union([Type.Literal('client'), Type.Literal('server')], {
    description:
      'The end that this node has. A connection between sockets of two nodes, or of one, has two records.',
  }),
  time: text('RFC 3339: when it began.'),
  ended: Type.Optional(text('RFC 3339; absent: it is still open.')),
  protocol: Type.Union([Type.Literal('TCP'), Type.Literal('UDP')], {
    description:
      'A flow of UDP is all that a client, by any of its sockets, and a port of a server send to each other, until they are silent for a minute.',
  }),
  verdict: Type.Union([
    Type.Literal('open'),
    Type.Literal('refused'),
    Type.Literal('no-answer'),
    Type.Literal('denied'),
  ]),
  reason: text('Of a connection that was not opened, if it is known.'),
  client: FlowEnd,
  server: FlowEnd,
  service: Type.Optional(
    Type.Object(
      {
        name: text('`<namespace>/<name>`; empty: no service has the address any more.'),
        address: Type.String(),
        port: Type.Integer(),
      },
      { description: 'What the client has asked for, when a backend has answered.' },
    ),
  ),
  clientBytes: count(
    'Acknowledged bytes from the client, without headers; of an open connection at `measured`, 0 before. Those of UDP were sent, at the record of the client, or have come. With `seenBy` probe: all bytes of IP packets.',
  ),
  serverBytes: count('Likewise, from the server.'),
  rttUs: count('Smoothed round-trip time in microseconds; 0: not measured.'),
  retransmissions: count('Segments that this end has sent again.'),
  stalledMs: count(
    'Milliseconds in which the other end took no more bytes of this one, because its window was full; at the last time when it was measured.',
  ),
  datagrams: Type.Optional(
    Type.Object(
      {
        client: count('From the client.'),
        server: count('From the server.'),
        sockets: count('Of the client, that have sent some; 0 at the server, which cannot know.'),
      },
      { description: 'Of UDP, known when its bytes are.' },
    ),
  ),
  measured: Type.Optional(
    text('RFC 3339: when the bytes of a connection that is open were read, once a minute.'),
  ),
  isSimulated: Type.Optional(Type.Literal(true, { description: 'Of a demonstration.' })),
});
export type Flow = DocumentOf<typeof Flow>;

export const FlowsDocument = Type.Object({
  node: Type.String(),
  flows: Type.Array(Flow, { description: 'In the order of their last change.' }),
  state: Type.Object({
    isRecording: Type.Boolean({
      description: 'false: flows are disabled, or the kernel cannot report them: see readiness.',
    }),
    notReadSince: Type.Optional(
      text('RFC 3339: flows are not read since then: see readiness. Absent: they are.'),
    ),
    records: count('In memory now.'),
    capacity: count('Records that fit; the oldest go first.'),
    displaced: count(
      'Conversations of UDP that have left the memory of the kernel for newer ones, since its programs were loaded, when it was asked last: once a minute.',
    ),
    vppDenials: Type.Optional(
      Type.Object(
        {
          packets: count('That ACLs of VPP have denied since the agent started, of whomever.'),
          sampled: count('Those of them that were looked at.'),
        },
        { description: 'Absent: flows are not recorded, or VPP is simulated.' },
      ),
    ),
    probe: Type.Optional(
      Type.Object(
        {
          interfaces: count('Memifs whose flows VPP counts.'),
          lost: count(
            'Messages of VPP that did not arrive, and conversations that have left their place for newer ones.',
          ),
          refused: count('Messages that were not of VPP, or could not be read.'),
        },
        { description: 'Absent: flows are not recorded, or VPP is simulated.' },
      ),
    ),
    lost: count(
      'Events that the kernel had no space for, since its programs were loaded, or that the agent could not record.',
    ),
  }),
});
export type FlowsDocument = DocumentOf<typeof FlowsDocument>;

export const TalkingWorkloads = Type.Object({
  node: Type.String(),
  pairs: Type.Array(
    Type.Object({
      client: text('`workload` of the client; of an end outside the cluster its address.'),
      clientKind: FlowEnd.properties.kind,
      server: text('Likewise, of the server.'),
      serverKind: FlowEnd.properties.kind,
      protocol: Flow.properties.protocol,
      port: Type.Optional(count('Of the server; absent: unknown.')),
      connections: count(
        'All, whatever their verdict; one whose both ends are here counts once. Of UDP: sockets of clients, as far as they are counted.',
      ),
      refused: count('Of these, by verdict.'),
      noAnswer: count('Likewise.'),
      denied: count('Likewise.'),
      clientBytes: count('From the clients.'),
      serverBytes: count('From the servers.'),
      lastChange: text('RFC 3339: begin or end of the last one.'),
    }),
    { description: 'Those with most connections first.' },
  ),
  total: count('Pairs that the arguments select.'),
  state: FlowsDocument.properties.state,
});
export type TalkingWorkloads = DocumentOf<typeof TalkingWorkloads>;
export type TalkingPair = TalkingWorkloads['pairs'][number];
