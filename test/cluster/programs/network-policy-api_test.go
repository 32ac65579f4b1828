// The conformance suite of network-policy-api, with the report that its maintainers ask for (their TestConformanceProfiles). It is
// the suite as published where the kernel has SCTP. Elsewhere servers of SCTP would end and their pods never be ready: they are left
// out, with the sub-tests that need them, and the report names each test of which a part is missing as skipped.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	api "sigs.k8s.io/network-policy-api/apis/v1beta1"
	"sigs.k8s.io/network-policy-api/conformance/tests"
	"sigs.k8s.io/network-policy-api/conformance/utils/flags"
	"sigs.k8s.io/network-policy-api/conformance/utils/suite"
)

// Below the tests, one of each policy; a part of each of these sends SCTP.
const subtestsWithSCTP = "TestConformance//(SCTP|cidr-peer|node-peer|different_protocols)"

// Tests that have such sub-tests.
var testsWithSCTP = regexp.MustCompile("SCTP$|InlineCIDRPeers$|Gress$|PortRange$|EgressNamedPort$")

var hasSCTP = canOpenSCTP()

func canOpenSCTP() bool {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_SCTP)
	if err != nil {
		return false
	}
	return syscall.Close(socket) == nil
}

func TestMain(m *testing.M) {
	flag.Parse()
	if !hasSCTP {
		if err := flag.Set("test.skip", subtestsWithSCTP); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	implementation, err := suite.ParseImplementation(
		*flags.ImplementationOrganization,
		*flags.ImplementationProject,
		*flags.ImplementationURL,
		*flags.ImplementationVersion,
		*flags.ImplementationContact,
		*flags.ImplementationAdditionalInformation,
	)
	require.NoError(t, err)
	cluster, err := config.GetConfig()
	require.NoError(t, err)
	objects, err := client.NewWithWatch(cluster, client.Options{})
	require.NoError(t, err)
	require.NoError(t, api.Install(objects.Scheme()))
	require.NoError(t, apiextensions.AddToScheme(objects.Scheme()))
	clientSet, err := kubernetes.NewForConfig(cluster)
	require.NoError(t, err)
	conformance, err := suite.NewConformanceProfileTestSuite(suite.ConformanceProfileOptions{
		Options: suite.Options{
			Client:                     clientOf(objects),
			ClientSet:                  clientSet,
			KubeConfig:                 *cluster,
			Debug:                      *flags.ShowDebug,
			CleanupBaseResources:       *flags.CleanupBaseResources,
			SupportedFeatures:          suite.ParseSupportedFeatures(*flags.SupportedFeatures),
			ExemptFeatures:             suite.ParseSupportedFeatures(*flags.ExemptFeatures),
			EnableAllSupportedFeatures: *flags.EnableAllSupportedFeatures,
		},
		Implementation:      *implementation,
		ConformanceProfiles: suite.ParseConformanceProfiles(*flags.ConformanceProfiles),
	})
	require.NoError(t, err)
	conformance.Setup(t)
	require.NoError(t, conformance.Run(t, conformanceTests()))
	report, err := conformance.Report()
	require.NoError(t, err)
	text, err := yaml.Marshal(report)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*flags.ReportOutput, text, 0o644))
}

func conformanceTests() []suite.ConformanceTest {
	if hasSCTP {
		return tests.ConformanceTests
	}
	all := slices.Clone(tests.ConformanceTests)
	for at := range all {
		name, run := all[at].ShortName, all[at].Test
		if !testsWithSCTP.MatchString(name) {
			continue
		}
		all[at].Test = func(t *testing.T, conformance *suite.ConformanceTestSuite) {
			run(t, conformance)
			// what is left of it has run; the report is about the whole
			conformance.SkipTests.Insert(name)
		}
	}
	return all
}

func clientOf(objects client.WithWatch) client.Client {
	if hasSCTP {
		return objects
	}
	return interceptor.NewClient(objects, interceptor.Funcs{Create: createWithoutSCTP})
}

func createWithoutSCTP(
	ctx context.Context, objects client.WithWatch, object client.Object, options ...client.CreateOption,
) error {
	path := []string{"spec", "template", "spec", "containers"}
	if manifest, ok := object.(*unstructured.Unstructured); ok {
		containers, found, err := unstructured.NestedSlice(manifest.Object, path...)
		if err != nil {
			return err
		}
		if found {
			containers = slices.DeleteFunc(containers, servesSCTP)
			if err := unstructured.SetNestedSlice(manifest.Object, containers, path...); err != nil {
				return err
			}
		}
	}
	return objects.Create(ctx, object, options...)
}

func servesSCTP(container any) bool {
	return strings.Contains(fmt.Sprint(container), "SERVE_SCTP_PORT")
}
