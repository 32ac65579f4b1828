/** Interfaces of a real VPP that are deleted past the agent. */
import { deletedInterfaceSuite } from '#test/descriptors/compliance/deleted-interface-suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { hostLinks } from '#test/vpp/descriptors/backends.ts';
import { realVpp } from '../support/vpp-backend.ts';

await declareUnless(withoutIsolatedVpp(), 'interfaces deleted past the agent, real VPP', () =>
  deletedInterfaceSuite(async () => {
    const backend = await realVpp();
    return {
      backend,
      // VPP permanently drops packets on a path whose interface was deleted
      deadPaths: async () => {
        const { reply } = await backend.client.request('cli_inband', { cmd: 'show fib paths' });
        return reply.split('\n').filter((line) => /oper-flags:.*\bdrop\b/.test(line));
      },
    };
  }, vppExamples(hostLinks)),
);
