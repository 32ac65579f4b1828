import type { ServiceAddressSummary } from '#documents/services.ts';
import { hostAndPort } from '../../components/host-and-port.ts';

const kinds: Readonly<Record<ServiceAddressSummary['kind'], string>> = {
  'cluster-ip': 'cluster IP',
  'node-port': 'node port',
  'external-ip': 'external IP',
  'load-balancer': 'load balancer',
  'host-port': 'host port',
};

export const kindText = (kind: ServiceAddressSummary['kind']): string => kinds[kind];

/** `10.96.0.1:443 TCP`. */
export const addressText = ({
  address,
  port,
  protocol,
}: Pick<ServiceAddressSummary, 'address' | 'port' | 'protocol'>): string =>
  `${hostAndPort(address, port)} ${protocol}`;
