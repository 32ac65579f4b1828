import { podIdText } from '#plugins/podmanager/api.ts';
import { sorted, type TestNode } from './test-node.ts';

/** Values, descriptions, and all answers of the handlers to each other and to operators, as plain data. */
export function stateOf(node: TestNode): unknown {
  return plain(knownBy(node));
}

function knownBy(node: TestNode): object {
  const { conf, nodes, pods, ipam, net, services, policies, handlers } = node;
  const attachments = [...pods.attachments()];
  const allNodes = [...nodes.allNodes().values()];
  const podsOfNode = [...new Set(attachments.map(([, { pod }]) => pod))];
  return {
    config: sorted(node.config),
    described: handlers.map((handler) => withoutLast(handler.describeInternalData?.())),
    problems: handlers.map((handler) => handler.problems?.().map(String)),
    contivconf: {
      interfaces: [conf.mainInterface(), ...conf.otherInterfaces()],
      gateway: conf.defaultGateways(),
      stn: conf.stn(),
      verdict: conf.nodeConfigVerdict(),
    },
    nodesync: { own: nodes.thisNode(), all: nodes.allNodes(), overlaps: nodes.overlaps() },
    podmanager: {
      attachments: pods.attachments(),
      displaced: attachments.filter(([id]) => pods.isDisplaced(id)).map(([id]) => id),
      ofPods: podsOfNode.map((pod) => [podIdText(pod), pods.attachmentsOf(pod)]),
    },
    ipam: {
      subnets: [ipam.podSubnetThisNode(), ipam.podGateway(), ipam.natLoopback()],
      settings: ipam.settings(),
      allocations: ipam.allocations(),
      owned: new Map(attachments.map(([id]) => [id, ipam.podAddresses(id)])),
    },
    ipv4net: {
      addresses: [net.nodeAddresses()[0], net.defaultGateways(), net.hostAddresses()],
      interfaces: [net.mainInterface(), net.otherInterfaces(), net.hostInterconnect()],
      unsupported: net.unsupportedFeatures(),
      pods: new Map(attachments.map(([id]) => [id, [net.podInterfaces(id), net.podKeys(id)]])),
      nodes: new Map(
        allNodes.map((one) => [one.name, [net.nodeLink(one), net.nodeKeys(one.name)]]),
      ),
    },
    service: {
      renderer: services.rendererName(),
      services: new Map(
        services
          .serviceNames()
          .map((name) => [name, [services.describeService(name), services.valuesOf(name)]]),
      ),
      ofPods: podsOfNode.map((pod) => [podIdText(pod), services.servicesOfPod(pod)]),
      problems: services.serviceProblems(),
      healthChecks: services.healthChecks(),
    },
    policy: {
      renderer: policies.rendererName(),
      node: policies.node(),
      pods: policies.attachedPods(),
      values: new Map(attachments.map(([id]) => [id, policies.valuesOf(id)])),
      problems: policies.policyProblems(),
      limits: policies.limits(),
      checkedServices: policies.checkedServices(),
    },
  };
}

/** Without the address with which ipam continues: it is only a hint, and its write may have failed. */
function withoutLast(text: string | undefined): string | undefined {
  return text?.replace(/"last":"[^"]*",/, '');
}

/** Without absent properties and classes; maps are sorted. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) {
    const entries = [...value].map(([key, one]) => [String(key), plain(one)] as const);
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  }
  if (value instanceof Set) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  const present = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(present.map(([key, one]) => [key, plain(one)]));
}
