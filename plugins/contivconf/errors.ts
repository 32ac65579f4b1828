import { defineError } from '#infra/errors/errors.ts';

/** A field of the NodeConfig of this node is invalid. */
export const NodeConfigError = defineError({
  name: 'NodeConfigError',
  code: 'CV_CONF_NODE_CONFIG',
  isRetriable: false,
  remedy:
    'Correct the field of the NodeConfig. Until then the node keeps its last valid NodeConfig; on a node that had none, the field is ignored.',
});

/** The node is configured by its NodeConfig (`crdNodeConfigurationDisabled: false`) and never had one. */
export const NodeConfigMissingError = defineError({
  name: 'NodeConfigMissingError',
  code: 'CV_CONF_NODE_CONFIG_MISSING',
  isRetriable: true,
  remedy:
    'Create the NodeConfig with the name of the node; an empty spec stands for contiv.conf. If it exists, check that contiv-ksr runs. Or set crdNodeConfigurationDisabled: true in contiv.conf.',
});

/** A configured interface exists neither in VPP nor, for `host-…`, in the host. */
export const InterfaceNotFoundError = defineError({
  name: 'InterfaceNotFoundError',
  code: 'CV_CONF_NO_SUCH_INTERFACE',
  remedy:
    'Compare the name with `vppctl show interface`, for host-… with `ip link`. If the interface is added later, the agent finds it.',
});

/** The STN daemon does not know the NIC that VPP takes over, or does not answer. */
export const StolenInterfaceError = defineError({
  name: 'StolenInterfaceError',
  code: 'CV_CONF_STOLEN_INTERFACE',
  remedy:
    'Check the name of the NIC, and that contiv-stn runs and has taken it over. The agent asks it again.',
});
