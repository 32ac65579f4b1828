import { IpamDocument } from '#documents/ipam.ts';
import type { ClusterNode } from '../command.ts';
import type { NodeClient } from '../requests/node-client.ts';
import { RequestError } from '../requests/request-failure.ts';

/** @returns the name that an agent has for its node; undefined: it does not answer */
export async function nodeNameOf(
  client: NodeClient,
  node: ClusterNode,
): Promise<string | undefined> {
  try {
    const reply = await client.json(node, { method: 'GET', path: 'contiv/v1/ipam' }, IpamDocument);
    return reply.nodeName || undefined;
  } catch (thrown) {
    if (thrown instanceof RequestError) return undefined;
    throw thrown;
  }
}
