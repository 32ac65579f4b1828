/** Keys of features that are not supported yet: each one that is set causes a warning. */
import { type ContivConfig, contivDefaults } from './config.ts';

interface UnsupportedKey {
  readonly path: string;
  /** Name of the feature; `instead` completes the sentence. */
  readonly feature: string;
  readonly instead: string;
  /** Values without a warning: the defaults of the code and of the original's deployment. */
  readonly harmless: readonly unknown[];
}

const SRV6_FEATURE = 'SRv6';
const NO_EFFECT = 'the key has no effect';

const unsupportedKeys: readonly UnsupportedKey[] = [
  {
    path: 'tapInterfaceVersion',
    feature: 'a TAP version other than 2',
    instead: 'version 2 is used',
    harmless: [2],
  },
  { path: 'vmxnet3RxRingSize', feature: 'vmxnet3', instead: NO_EFFECT, harmless: [0, 1024] },
  { path: 'vmxnet3TxRingSize', feature: 'vmxnet3', instead: NO_EFFECT, harmless: [0, 1024] },
  {
    path: 'nodeToNodeTransport',
    feature: SRV6_FEATURE,
    instead: 'VXLAN is used',
    harmless: ['vxlan', 'nooverlay', 'wireguard'],
  },
  {
    path: 'useSRv6ForServices',
    feature: 'SRv6 for services',
    instead: 'NAT44 is used',
    harmless: [false],
  },
  {
    path: 'useSRv6ForServiceFunctionChaining',
    feature: SRV6_FEATURE,
    instead: NO_EFFECT,
    harmless: [false],
  },
  {
    path: 'useDX6ForSrv6NodetoNodeTransport',
    feature: SRV6_FEATURE,
    instead: NO_EFFECT,
    harmless: [false],
  },
  ...Object.entries(contivDefaults.ipamConfig.srv6).map(
    ([key, byDefault]): UnsupportedKey => ({
      path: `ipamConfig.srv6.${key}`,
      feature: SRV6_FEATURE,
      instead: NO_EFFECT,
      harmless: [byDefault],
    }),
  ),
];

function valueAt(config: ContivConfig, path: string): unknown {
  let value: unknown = config;
  for (const part of path.split('.')) value = (value as Record<string, unknown>)[part];
  return value;
}

export function unsupported(
  config: ContivConfig,
): { readonly path: string; readonly text: string }[] {
  return unsupportedKeys
    .filter(({ path, harmless }) => !harmless.includes(valueAt(config, path)))
    .map(({ path, feature, instead }) => ({
      path,
      text: `${feature} is not supported yet: ${instead}`,
    }));
}
