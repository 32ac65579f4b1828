/** A plugin that drops what pods send to networks, whatever policies permit: `options: { networks: [192.0.2.0/24] }`. */
import {
  defineError,
  type EventHandler,
  EventMethod,
  keyValue,
  type MakePlugin,
  vppRouteModel,
} from 'contiv-vswitch';

const OptionsError = defineError({
  name: 'BlockedNetworksOptionsError',
  code: 'CV_BLOCKED_NETWORKS',
  rejects: 'configuration',
  remedy: 'Set options.networks of the module in plugins.conf to a list of networks as CIDR.',
});

const blockedNetworks: MakePlugin = ({ options, conf }) => {
  const { networks } = options;
  if (!Array.isArray(networks)) throw new OptionsError('networks is no list');
  const handler: EventHandler = {
    name: 'blocked-networks',
    // A handler that puts values must handle every resync, or its values are deleted.
    handlesEvent: ({ kind, payload }) => kind.method(payload) !== EventMethod.Update,
    resync: ({ txn }) => {
      const vrf_id = conf.routing().podVrf;
      const routes = networks.map((dst_network: string) =>
        keyValue(vppRouteModel, { type: 'DROP', vrf_id, dst_network }),
      );
      txn.replace('routes', routes);
    },
    update: () => undefined,
  };
  return handler;
};

export default blockedNetworks;
