import { defineError } from '#infra/errors/errors.ts';

/** `npm start`: an agent of this user runs under the name of the node already. */
export const DemonstrationRunningError = defineError({
  name: 'DemonstrationRunningError',
  code: 'CV_DEMONSTRATION_RUNNING',
  remedy:
    'Ask it with netctl (npm run -s netctl nodes), or end it with Ctrl-C in its terminal. A second agent needs a name and a port of its own: npm start -- --microservice-label vpp2 --http-port 9998',
});
