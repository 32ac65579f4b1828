import type { ServiceName } from '../rendered-service.ts';
import type { HealthReply } from './health-check-port.ts';

/**
 * The reply of kube-proxy: a load balancer sends traffic to this node only for status 200, and may
 * weight the nodes by the header.
 * @param isProxyHealthy whether changes of services reach the data plane
 */
export function healthReply(
  service: ServiceName,
  localEndpoints: number,
  isProxyHealthy: boolean,
): HealthReply {
  const [namespace, name] = service.split('/');
  const document = {
    service: { namespace, name },
    localEndpoints,
    serviceProxyHealthy: isProxyHealthy,
  };
  return {
    status: localEndpoints > 0 && isProxyHealthy ? 200 : 503,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    },
    body: JSON.stringify(document, null, '\t'),
  };
}
