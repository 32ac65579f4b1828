import { baseMessages } from './base-messages.ts';
import { cnatMessages } from './cnat-messages.ts';
import { flowProbeMessages } from './flow-probe-messages.ts';
import { interfaceMessages } from './interface-messages.ts';
import { serviceMessages } from './service-messages.ts';
import type { Differential } from './suite.ts';
import { tapMessages } from './tap-messages.ts';
import { wireguardMessages } from './wireguard-messages.ts';

/** Every differential suite is listed here. */
export const DIFFERENTIALS: readonly Differential[] = [
  baseMessages,
  interfaceMessages,
  serviceMessages,
  cnatMessages,
  tapMessages,
  wireguardMessages,
  flowProbeMessages,
];
