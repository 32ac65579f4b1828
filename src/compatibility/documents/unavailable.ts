/** Documents of what this agent does not configure: as the original without the plugin of VPP. */
import { failure, type Route } from '#infra/http/route.ts';

export function unavailableDocuments(): Route[] {
  return [
    unavailable('/dump/vpp/v2/abf', 'ACL-based forwarding: not configured by this agent'),
    unavailable('/dump/vpp/v2/ipsec/sas', 'IPsec associations: not configured by this agent'),
    unavailable('/dump/vpp/v2/ipsec/spds', 'IPsec policies: not configured by this agent'),
    unavailable('/service', 'gRPC: served on the socket of grpc.conf, not over HTTP'),
  ];
}

function unavailable(path: string, summary: string): Route {
  return {
    method: 'GET',
    path,
    mutating: false,
    summary,
    handle: () => failure(500, summary),
  };
}
