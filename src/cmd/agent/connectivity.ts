/** `contiv-agent connectivity`: who may reach whom under the network policies of a folder of manifests. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { defineError } from '#infra/errors/errors.ts';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import {
  type ClusterPolicies,
  clusterPolicies,
} from '#plugins/policy/connectivity/cluster-policies.ts';
import { changedConnections, connections } from '#plugins/policy/connectivity/connections.ts';
import {
  changeItems,
  connectionItems,
  documentPieces,
  endpointItems,
  explanationDocument,
} from '#plugins/policy/connectivity/connectivity-document.ts';
import {
  changeLines,
  connectionLine,
  dotPieces,
  explanationText,
} from '#plugins/policy/connectivity/connectivity-text.ts';
import { endpointsOf } from '#plugins/policy/connectivity/endpoints.ts';
import { explain } from '#plugins/policy/connectivity/explanation.ts';
import type {
  ConnectivityOutput,
  ConnectivityPair,
  ConnectivityRequest,
} from './connectivity-request.ts';
import { type ManifestCluster, readManifestCluster } from './manifest-cluster.ts';
import { manifestOperations, type NodeOperation } from './manifest-operations.ts';

export const ConnectivityError = defineError({
  name: 'ConnectivityError',
  code: 'CV_CONNECTIVITY',
  rejects: 'configuration',
  remedy:
    'Write pods and workloads as namespace/name; without --from and --to, all connections are listed with their names.',
});

/** Outputs of the command. */
interface Printers {
  readonly print: (text: string) => void;
  readonly warn: (text: string) => void;
}

/**
 * @returns whether the asked pair may communicate; true without one
 * @throws ConnectivityError, ManifestsError
 */
export async function connectivity(
  { manifests, compare, output, pair }: ConnectivityRequest,
  clock: Clock,
  { print, warn }: Printers,
): Promise<boolean> {
  const read = (folder: string): ManifestCluster => {
    const cluster = readManifestCluster(folder);
    for (const problem of cluster.problems) warn(`${problem}\n`);
    return cluster;
  };
  const policiesOf = async ({ kube, pods, policySources }: ManifestCluster) => {
    const policies = await clusterPolicies(kube, pods, new Slices(clock));
    for (const [policy, texts] of policies.problems)
      for (const reason of texts) {
        const source = policySources.get(policy);
        const kind = policy.includes('/') ? 'NetworkPolicy' : 'ClusterNetworkPolicy';
        const problem = { kind, name: policy, reason };
        warn(`${source ? problemText({ ...source, ...problem }) : reason}\n`);
      }
    return policies;
  };
  const before = read(manifests);
  const states = [await policiesOf(before)];
  if (pair) return explainPair(states[0] as ClusterPolicies, pair, output, print);
  const operations: NodeOperation[] = [];
  if (compare !== undefined) {
    const after = read(compare);
    states.push(await policiesOf(after));
    operations.push(...(await manifestOperations(before, after, clock)));
  }
  const endpoints = await endpointsOf(states, new Slices(clock));
  const isComparison = compare !== undefined;
  for (const text of isComparison ? changePieces() : listPieces()) print(text);
  return true;

  function* listPieces(): Iterable<string> {
    if (output === 'json')
      yield* documentPieces({
        endpoints: endpointItems(endpoints),
        connections: connectionItems(connections(endpoints)),
      });
    else if (output === 'dot') yield* dotPieces(connections(endpoints));
    else
      for (const one of connections(endpoints)) {
        const line = one && connectionLine(one);
        if (line !== undefined) yield `${line}\n`;
      }
  }

  function* changePieces(): Iterable<string> {
    if (output === 'json')
      yield* documentPieces({
        endpoints: endpointItems(endpoints),
        changes: changeItems(changedConnections(endpoints)),
        operations,
      });
    else {
      for (const one of changedConnections(endpoints))
        for (const line of one ? changeLines(one) : []) yield `${line}\n`;
      for (const { node, operation, key } of operations) yield `${node}: ${operation} ${key}\n`;
    }
  }
}

function explainPair(
  cluster: ClusterPolicies,
  { from, to, port }: ConnectivityPair,
  output: ConnectivityOutput,
  print: (text: string) => void,
): boolean {
  const explanation = explain(cluster, from, to, port);
  if ('unknown' in explanation)
    throw new ConnectivityError('no pod and no workload of the manifests has this name', {
      where: explanation.unknown,
    });
  print(
    output === 'json'
      ? `${JSON.stringify(explanationDocument(explanation), undefined, 2)}\n`
      : explanationText(explanation),
  );
  return !explanation.permitted.isEmpty;
}
