/** WireGuard: the same random messages to the simulated VPP and a real one. */
import { differentialSuite } from './differential/suite.ts';
import { wireguardMessages } from './differential/wireguard-messages.ts';

differentialSuite(wireguardMessages);
