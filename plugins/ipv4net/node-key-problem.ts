import { defineError } from '#infra/errors/errors.ts';
import type { NodeProblem } from '#plugins/nodesync/api.ts';
import type { RefusedKey } from './peer-keys.ts';

const NodeKeyError = defineError({
  name: 'NodeKeyError',
  code: 'CV_NET_NODE_KEY',
  isRetriable: false,
  remedy:
    'Restart the agent of the named node: it publishes its keys again. If two nodes have the same key, delete the file with the keys of one of them before.',
});

export function keyProblem(node: string, { key, phrase }: RefusedKey): NodeProblem {
  const text = `ignoring a key of node ${node}: ${key} ${phrase}`;
  return { subject: text, error: new NodeKeyError(text) };
}
