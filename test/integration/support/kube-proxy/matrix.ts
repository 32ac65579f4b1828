/** The cells of the comparison: a client asks an address of a service, and gets an answer. */
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';
import type { Answer, Target } from '#test/services/service-cluster.ts';
import { machines } from './services.ts';

/** Clients by kind: machines of node-a, and one on the network of the nodes that sends by it. */
export const clients = {
  pod: 'a1',
  'pod with translated packets': 'a2',
  host: 'node-a',
  outside: 'outside',
} as const;

export type ClientKind = keyof typeof clients;

export type AddressKind =
  | 'cluster IP'
  | 'other port of the cluster IP'
  | 'external IP'
  | 'load balancer'
  | 'pod'
  | keyof typeof nodeAddresses;

/** As many connections as miss one of two backends once in 2^23 times. */
const CONNECTIONS = 24;

/**
 * Connects until another answer is unlikely, or as many backends have answered as the service has.
 * @param answers of the first connections; it gets the others
 * @param connect some connections
 */
export async function completeAnswers(
  answers: Answer[],
  endpoints: number,
  connect: () => Promise<readonly Answer[]>,
): Promise<void> {
  const isAnswered = answers.every(({ result }) => result === 'answered');
  while (
    isAnswered &&
    answers.length < CONNECTIONS &&
    answerText(answers).split(' ').length < endpoints
  )
    answers.push(...(await connect()));
}

/** How many endpoints a service has, in all slices. */
export function endpointsOf(slices: readonly KubeEndpointSlice[], service: string): number {
  const own = slices.filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service,
  );
  return own.reduce((sum, { endpoints }) => sum + (endpoints ?? []).length, 0);
}

/** Those at which node ports are asked. */
const nodeAddresses = {
  'node port': '192.168.16.1',
  'node port at the host': '172.16.0.1',
  'node port of the other node': '192.168.16.2',
  'node port at the other host': '172.16.0.2',
} as const;

export interface Question {
  readonly service: string;
  readonly kind: AddressKind;
  readonly target: Target;
}

export interface Cell {
  readonly client: ClientKind;
  readonly question: Question;
}

/** Sorted backends as `a2:8080 b1:8080`; `refused`: a reset or an ICMP error; `no answer`. */
export type AnswerText = string;

/** @param answers to connections of one client to one address */
export function answerText(answers: readonly Answer[]): AnswerText {
  const texts = answers.map((answer) => {
    if (answer.result === 'answered') return `${answer.backend}:${answer.backendPort}`;
    return answer.result === 'refused' ? 'refused' : 'no answer';
  });
  return [...new Set(texts)].sort().join(' ');
}

const OTHER_PORT = 9999;

/** All addresses of the services, as the API server has them. */
export function questions(services: readonly KubeService[]): Question[] {
  return services.flatMap(({ metadata: { name }, spec, status }) => {
    const ingress = status?.loadBalancer?.ingress ?? [];
    return (spec.ports ?? []).flatMap(({ protocol = 'TCP', port, nodePort }) => {
      const at = (kind: AddressKind, address: string, asked = port): Question => ({
        service: name,
        kind,
        target: { address, port: asked, protocol: protocol as Target['protocol'] },
      });
      const clusterIps = (spec.clusterIPs ?? []).filter((one) => one !== 'None');
      return [
        ...clusterIps.map((one) => at('cluster IP', one)),
        // that VPP refuses a datagram reaches no socket
        ...(protocol === 'TCP'
          ? clusterIps.map((one) => at('other port of the cluster IP', one, OTHER_PORT))
          : []),
        // a headless service is none of the proxy
        ...(spec.clusterIP === 'None' ? [at('pod', machines.a2.address)] : []),
        ...(nodePort
          ? Object.entries(nodeAddresses).map(([kind, one]) =>
              at(kind as AddressKind, one, nodePort),
            )
          : []),
        ...(spec.externalIPs ?? []).map((one) => at('external IP', one)),
        ...ingress.flatMap(({ ip }) => (ip ? [at('load balancer', ip)] : [])),
      ];
    });
  });
}
