import { StoreLockedError } from '#datastore/open-level.ts';
import { defineError } from '#infra/errors/errors.ts';

/** `npm start`: an agent of this user runs under the name of the node already. */
export const DemonstrationRunningError = defineError({
  name: 'DemonstrationRunningError',
  code: 'CV_DEMONSTRATION_RUNNING',
  remedy:
    'Ask it with netctl (npm run -s netctl nodes), or end it with Ctrl-C in its terminal. A second one needs a name and ports of its own: npm start -- --microservice-label other --http-port 9990',
});

/** The error of opening the store of a node, in the words of the demonstration. */
export function explainedOpenError(thrown: unknown, node: string): unknown {
  if (!(thrown instanceof StoreLockedError)) return thrown;
  const text = `an agent of yours runs as node ${node} already: ${thrown.holder}`;
  return new DemonstrationRunningError(text, { cause: thrown });
}
