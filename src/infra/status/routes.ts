import { ProbeDocument } from '#documents/probes.ts';
import { json, type Route } from '../http/route.ts';
import { livenessDocument, readinessDocument } from './document.ts';
import type { StatusCheck } from './status.ts';

/** The probes of Kubernetes. */
export function probeRoutes(status: StatusCheck): Route[] {
  return [
    {
      method: 'GET',
      path: '/liveness',
      mutating: false,
      isProbe: true,
      summary: '200 while the agent works or recovers by itself, 500 when it must be restarted',
      reply: ProbeDocument,
      handle: () => {
        status.readProblems();
        return json(livenessDocument(status), status.isAlive ? 200 : 500);
      },
    },
    {
      method: 'GET',
      path: '/readiness',
      mutating: false,
      isProbe: true,
      summary: '200 when every component is OK, else 500',
      reply: ProbeDocument,
      handle: () => {
        status.readProblems();
        return json(readinessDocument(status), status.readiness.state === 'ok' ? 200 : 500);
      },
    },
  ];
}
