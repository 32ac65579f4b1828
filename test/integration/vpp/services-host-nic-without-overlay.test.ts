import { hostNicSuite } from '../support/host-nic-suite.ts';

const nooverlay = { contiv: { nodeToNodeTransport: 'nooverlay' } };

// backends of other nodes do not answer there: docs/services.md, "Clients at a NIC of the host"
hostNicSuite('without an overlay', nooverlay, { otherNodes: false, restart: false });
