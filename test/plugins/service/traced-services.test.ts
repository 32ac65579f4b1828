/**
 * Two nodes whose services, endpoints, pods and membership change at random. At every step each client reaches at each
 * address, port and protocol exactly the pods that Kubernetes says, with the source address that it says,
 * and the reply returns: in packet traces through what the agents have configured.
 */
import { test } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '../../support/random-cases.ts';
import { answers } from './reference.ts';
import {
  checkAnswer,
  isAsked,
  NODES,
  someFirstSteps,
  someStep,
  TracedCluster,
} from './traced-cluster.ts';

const ways = { 'NAT44 alone': false, 'services at sockets, too': true } as const;

for (const [way, hasSockets] of Object.entries(ways)) {
  const title = `every client reaches at every address the pods that Kubernetes says: ${way}`;
  test(title, async () => {
    await checkProperty(
      { file: 'test/plugins/service/traced-services.test.ts', name: title },
      40,
      fc.asyncProperty(
        someFirstSteps,
        fc.array(someStep, { minLength: 2, maxLength: 10 }),
        fc.boolean(),
        async (first, others, hasUplink) => {
          const cluster = await TracedCluster.start(hasSockets, hasUplink);
          /** Also those that are not served any more. */
          const served = new Set(['TCP 10.96.0.1 80']);
          for (const step of [...first, ...others]) {
            await cluster.step(step);
            for (const node of NODES) {
              const client = hasSockets ? 'socket' : 'packet';
              for (const key of answers(cluster.world(node), client).keys()) served.add(key);
            }
            const snapshot = cluster.snapshot();
            for (const client of cluster.clients()) {
              for (const key of served)
                if (isAsked(cluster, client, key)) checkAnswer(cluster, snapshot, client, key);
            }
          }
        },
      ),
    );
  });
}
