import { hostNicSuite } from '../support/host-nic-suite.ts';

const nooverlay = { contiv: { nodeToNodeTransport: 'nooverlay' } };

hostNicSuite('without an overlay', nooverlay, { restart: false });
