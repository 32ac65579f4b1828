/** The events of the core plugins as the rest of the world knows them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NodeConfigChange } from '#plugins/contivconf/api.ts';
import {
  Direction,
  type Event,
  type EventKind,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';
import {
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
  HealingResync,
  KubeStateChange,
  Shutdown,
  VerificationResync,
} from '#plugins/controller/api/events.ts';
import { PodCidrChange } from '#plugins/ipam/api.ts';
import { HostAddressChange, NodeIpChange } from '#plugins/ipv4net/api.ts';
import { NodeUpdate } from '#plugins/nodesync/api.ts';
import { AddPod, DeletePod } from '#plugins/podmanager/api.ts';
import { NewPolicyTables } from '#plugins/policy/api.ts';

const pod = { namespace: 'default', name: 'web' };
const attachment = { pod, containerId: 'c1', interfaceName: 'eth0' };
const change = { resource: 'pod', key: 'k8s/pod/web/namespace/default', previous: undefined };

/** One line an event: name, method, type, direction, who waits; below it the whole description. */
const catalog: readonly (readonly [event: Event, line: string, description: string])[] = [
  [
    DbResync.event({ local: false, kubeState: {}, externalConfig: {} }),
    'Database Resync: FullResync, blocking false',
    'Database Resync (Remote DB) - empty dataset',
  ],
  [
    KubeStateChange.event({ ...change, current: { name: 'web' } }),
    'Kubernetes State Change: Update BestEffort Forward, blocking false',
    'Kubernetes State Change\n* resource: pod\n* key: k8s/pod/web/namespace/default\n' +
      '* prev-value: <nil>\n* new-value: {"name":"web"}',
  ],
  [
    KubeStateChange.event({ ...change, previous: { name: 'web' }, current: undefined }),
    'Kubernetes State Change: Update BestEffort Reverse, blocking false',
    'Kubernetes State Change\n* resource: pod\n* key: k8s/pod/web/namespace/default\n' +
      '* prev-value: {"name":"web"}\n* new-value: <nil>',
  ],
  [
    ExternalConfigChange.event({ source: 'db', values: { x: { a: 1 } } }),
    'External Config Change: Update BestEffort Forward, blocking optional',
    'External Config Change [DB, PUT]\n* key: x\n  new-value: {"a":1}',
  ],
  [
    ExternalConfigChange.event({ source: 'grpc', values: { x: null } }),
    'External Config Change: Update BestEffort Forward, blocking optional',
    'External Config Change [GRPC, DEL]\n* key: x',
  ],
  [
    ExternalConfigResync.event({ source: 'grpc', values: { x: {} } }),
    'External Config Resync: UpstreamResync, blocking optional',
    'External Config Resync [GRPC]\n* key: x',
  ],
  [
    HealingResync.event({ type: 'periodic' }),
    'Healing Resync: DownstreamResync, blocking false',
    'Healing Resync (Periodic)',
  ],
  [
    HealingResync.event({ type: 'after-error', error: 'no' }),
    'Healing Resync: FullResync, blocking false',
    'Healing Resync (After error: no)',
  ],
  [
    VerificationResync.event({}),
    'Verification Resync: UpstreamResync, blocking false',
    'Verification Resync',
  ],
  [
    Shutdown.event({ cleanup: false }),
    'Shutdown: Update BestEffort Forward, blocking true',
    'Shutdown',
  ],
  [
    AddPod.event({ ...attachment, networkNamespace: '/n', ipamType: '', ipamData: '' }),
    'Add Pod default/web: Update RevertOnFailure Forward, blocking true',
    'Add Pod default/web\n* Container: c1\n* Network namespace: /n',
  ],
  [
    DeletePod.event(attachment),
    'Delete Pod default/web: Update BestEffortIgnoreErrors Reverse, blocking true',
    'Delete Pod default/web\n* Container: c1',
  ],
  [
    NodeUpdate.event({ nodeName: 'node2', previous: undefined, current: undefined }),
    'Node Update: Update BestEffort Forward, blocking false',
    'Node Update\n* node: node2',
  ],
  [
    NodeConfigChange.event({ node: 'node1' }),
    'Node-specific Configuration Change: UpstreamResync, blocking false',
    'Node-specific Configuration Change\n* node: node1',
  ],
  [
    NodeIpChange.event({ addresses: ['10.0.0.5/24'], defaultGateway: '10.0.0.1' }),
    'Node IP Change: UpstreamResync, blocking false',
    'Node IP Change\n* addresses: 10.0.0.5/24\n* default gateway: 10.0.0.1',
  ],
  [
    HostAddressChange.event({ addresses: [] }),
    'Host Address Change: UpstreamResync, blocking false',
    'Host Address Change\n* addresses: <none>',
  ],
  [
    PodCidrChange.event({ localPodCidr: '10.1.7.0/24' }),
    'Pod CIDR Change: UpstreamResync, blocking false',
    'Pod CIDR Change\n* local pod CIDR: 10.1.7.0/24',
  ],
  [
    NewPolicyTables.event({ owners: ['c1/eth0', 'node'] }),
    'New Policy Tables: Update BestEffort Forward, blocking false',
    'New Policy Tables\n* interfaces: 2',
  ],
] as readonly (readonly [Event, string, string])[];

const nameIn = (enumeration: Readonly<Record<string, number>>, value: number): string =>
  Object.keys(enumeration).find((name) => enumeration[name] === value)!;

function lineOf<P>(kind: EventKind<P>, payload: P): string {
  const method = kind.method(payload);
  const parts = [nameIn(EventMethod, method)];
  if (method === EventMethod.Update)
    parts.push(
      nameIn(TransactionType, kind.transactionType(payload)),
      nameIn(Direction, kind.direction(payload)),
    );
  return `${kind.name(payload)}: ${parts.join(' ')}, blocking ${kind.blocking}`;
}

describe('the catalog of events', () => {
  for (const [event, line, description] of catalog)
    it(line, () => {
      assert.equal(lineOf(event.kind, event.payload), line);
      assert.equal(event.kind.describe(event.payload), description);
    });

  it('has the numbers that REST documents show', () => {
    assert.deepEqual(Object.values(EventMethod), [0, 1, 2, 3]);
    assert.deepEqual(Object.values(TransactionType), [0, 1, 2]);
    assert.deepEqual(Object.values(Direction), [0, 1]);
  });
});
