import type { ServiceName } from '../rendered-service.ts';
import type { HealthReply } from './health-check-port.ts';

/**
 * The reply of kube-proxy: a load balancer sends traffic to this node only for status 200, and may
 * weight the nodes by the header.
 */
export function healthReply(service: ServiceName, localEndpoints: number): HealthReply {
  const [namespace, name] = service.split('/');
  const document = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: true };
  return {
    status: localEndpoints > 0 ? 200 : 503,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    },
    body: JSON.stringify(document, null, '\t'),
  };
}
