/* vectors.h - statistics by numpy 2.4.6; written by make_vectors.py, do not edit. */
#ifndef VB_TESTS_STATS_VECTORS_H
#define VB_TESTS_STATS_VECTORS_H

#include <stddef.h>

static const double stats_percentiles[] = {0.0, 1.0, 25.0, 37.5, 50.0, 90.0, 99.0, 99.9, 100.0};

struct stats_vector {
    size_t n;
    double sum;
    double mean;
    double std;
    double median;
    double percentile[9];
};

/* clang-format off */
static const struct stats_vector stats_vectors[] = {
    {1, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x0.0p+0, 0x1.adf73053ae79ep+3,
     {0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3,
      0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3, 0x1.adf73053ae79ep+3}},
    {2, 0x1.7cc5b8d8cdda8p+7, 0x1.7cc5b8d8cdda8p+6, 0x1.a42ff859f2280p-2, 0x1.7cc5b8d8cdda8p+6,
     {0x1.7b2188e073e85p+6, 0x1.7b29f03c75b4dp+6, 0x1.7bf3a0dca0e16p+6, 0x1.7c5cacdab75dfp+6,
      0x1.7cc5b8d8cdda8p+6, 0x1.7e15df3915cf6p+6, 0x1.7e61817526002p+6, 0x1.7e6911ae5ad1cp+6, 0x1.7e69e8d127ccap+6}},
    {3, 0x1.ccdc0f3df34f0p+6, 0x1.333d5f7ea234bp+5, 0x1.915f175f7a7fbp+3, 0x1.27f6d16f982fdp+5,
     {0x1.7cbe4fae8736ep+4, 0x1.80f793e7d2471p+4, 0x1.e655f946dbcb4p+4, 0x1.0d90e709830acp+5,
      0x1.27f6d16f982fdp+5, 0x1.977fe140c0b23p+5, 0x1.b098519c9d02bp+5, 0x1.b31ac33f663e0p+5, 0x1.b36225350ad2cp+5}},
    {7, 0x1.af864636f8c75p+7, 0x1.ed2bbdf5ae9aap+4, 0x1.53d7835db8771p+4, 0x1.0310f342c95a6p+5,
     {0x1.73317037c3643p+2, 0x1.78bcb05384c42p+2, 0x1.6541b9833834cp+3, 0x1.368d57629de60p+4,
      0x1.0310f342c95a6p+5, 0x1.d185bb93944a6p+5, 0x1.019ccec38d462p+6, 0x1.0419007620c98p+6, 0x1.045fb0a66a10fp+6}},
    {8, 0x1.64214f27f9220p+8, 0x1.64214f27f9220p+5, 0x1.1d01dbbf678a6p+5, 0x1.7b5146122ae72p+4,
     {0x1.1097c586bcb97p+3, 0x1.19cf3a0450180p+3, 0x1.2dcf3c8dc32a6p+4, 0x1.60582d1f5ad0ep+4,
      0x1.7b5146122ae72p+4, 0x1.85568971bbbbfp+6, 0x1.8e9ebd675c0b8p+6, 0x1.8f8c5c331f46bp+6, 0x1.8fa6c32d5169bp+6}},
    {9, 0x1.8466ee86c0f0bp+8, 0x1.593f0ce98f0edp+5, 0x1.e34e7454f37b5p+4, 0x1.7267e829524f5p+5,
     {0x1.49798a7548800p-1, 0x1.3d1119398a58cp+0, 0x1.bb537c9a753e2p+3, 0x1.2aa64896b6a41p+5,
      0x1.7267e829524f5p+5, 0x1.5d29e3a11cdbfp+6, 0x1.664dbad685d10p+6, 0x1.6737b6c243832p+6, 0x1.6751b64e3c252p+6}},
    {15, 0x1.9619aa26256dap+9, 0x1.b12c7139c1860p+5, 0x1.1a48caf7e47ccp+5, 0x1.108a4edb5cc76p+6,
     {0x1.2a5c338436cb0p+0, 0x1.3d170a7347e70p+0, 0x1.926c6dde25a04p+4, 0x1.d7eddb322867ep+4,
      0x1.108a4edb5cc76p+6, 0x1.87290397591d7p+6, 0x1.8f2bfaae775acp+6, 0x1.8fd9dcb02cbedp+6, 0x1.8fed2eb05d582p+6}},
    {16, 0x1.6abf4764ef118p+9, 0x1.6abf4764ef118p+5, 0x1.80d9a05fd06fdp+4, 0x1.4a965c160a002p+5,
     {0x1.03494f351c8f0p+0, 0x1.7ebddff7c6a0ap+1, 0x1.ecf287c812a43p+4, 0x1.1947c7d054069p+5,
      0x1.4a965c160a002p+5, 0x1.3287ffea8fbc2p+6, 0x1.7476d7ed4571ep+6, 0x1.7d7af0c9da4dap+6, 0x1.7e7b655423bb4p+6}},
    {100, 0x1.4a5e3ef50c7ffp+12, 0x1.a6df08e7be146p+5, 0x1.b22ad3627b9a6p+4, 0x1.c09f7999ea7bap+5,
     {0x1.21074511ad80cp-1, 0x1.3eefbb9bd3419p+0, 0x1.e73aaf1e52ddcp+4, 0x1.6c0b223e9168ap+5,
      0x1.c09f7999ea7bap+5, 0x1.649c4f5175055p+6, 0x1.8158de94da2dap+6, 0x1.83340eeb3eee2p+6, 0x1.8368db669f754p+6}},
    {127, 0x1.822be0bfd78a0p+12, 0x1.85364d5a8ca34p+5, 0x1.e3b0c52bd23c1p+4, 0x1.6fa893f8c4753p+5,
     {0x1.b6a2eb567e7b0p-3, 0x1.9fc782e8f920cp-2, 0x1.7f3579c4a5d52p+4, 0x1.f65a542d5a80ap+4,
      0x1.6fa893f8c4753p+5, 0x1.75db9fb380792p+6, 0x1.862ea37f7f22bp+6, 0x1.8e010bef1e3c1p+6, 0x1.8f17dfe673e50p+6}},
    {128, 0x1.8cf0e4febb46ap+12, 0x1.8cf0e4febb46ap+5, 0x1.c976b6620adb5p+4, 0x1.ac58188813ad8p+5,
     {0x1.06d1ab10aaf20p-2, 0x1.51ea4dc6990e0p+0, 0x1.766e775136315p+4, 0x1.1915cbd5e3b75p+5,
      0x1.ac58188813ad8p+5, 0x1.61fd2d0cbfb1cp+6, 0x1.7ea1986d74fabp+6, 0x1.8c785f6cd5f25p+6, 0x1.8e786df03c03fp+6}},
    {129, 0x1.768ad3e74c566p+12, 0x1.73a38ccdb0f47p+5, 0x1.c4d6601ecfeefp+4, 0x1.6449db8269084p+5,
     {0x1.a16a9dab4f474p-1, 0x1.d824c81c1784ep+0, 0x1.385b24d8618b8p+4, 0x1.0785545687c78p+5,
      0x1.6449db8269084p+5, 0x1.6633057e60b23p+6, 0x1.802bdc4787014p+6, 0x1.897d52b906466p+6, 0x1.8ad9a49caa77ep+6}},
    {136, 0x1.c37855da1d096p+12, 0x1.a8e9ba36b1eabp+5, 0x1.cf5f48acd62f2p+4, 0x1.afafca62063b0p+5,
     {0x1.f897dee19e7d0p-1, 0x1.0784f828c0aefp+1, 0x1.a1b73f4bc7879p+4, 0x1.68c0048c0b564p+5,
      0x1.afafca62063b0p+5, 0x1.6cc5bcbce22a9p+6, 0x1.83fea1c797480p+6, 0x1.8cc46b95f67a9p+6, 0x1.8e0e014ae3c28p+6}},
    {255, 0x1.b06ebaaf34ce2p+13, 0x1.b220db8abf8dbp+5, 0x1.c03ea4a9bbac0p+4, 0x1.bd8e004d68eecp+5,
     {0x1.b71751ff32020p-4, 0x1.3cb29320ffa35p+0, 0x1.07c9c14b9f06ep+5, 0x1.63f6c20492653p+5,
      0x1.bd8e004d68eecp+5, 0x1.66c29fb50351fp+6, 0x1.8d5e9a68d50d6p+6, 0x1.8f7bd02c4fb40p+6, 0x1.8f9d411800887p+6}},
    {256, 0x1.91e3db7f7c35dp+13, 0x1.91e3db7f7c35dp+5, 0x1.d9852031443e9p+4, 0x1.90a809b3ccd7ap+5,
     {0x1.8bba1e8150780p-5, 0x1.935fc9d44af02p-1, 0x1.875a6499fb9b8p+4, 0x1.2e384f301ff0ep+5,
      0x1.90a809b3ccd7ap+5, 0x1.69cf93935d6efp+6, 0x1.87f35384ded68p+6, 0x1.8d3e80b18cdd5p+6, 0x1.8e238389b5f43p+6}},
    {257, 0x1.a00a5bf98c782p+13, 0x1.9e6bf00982f53p+5, 0x1.cccdc803d6115p+4, 0x1.c461c3cfcfb2fp+5,
     {0x1.355fa54cc97e8p+0, 0x1.9a4692af36a24p+0, 0x1.8db59e3c4283bp+4, 0x1.579f44020d060p+5,
      0x1.c461c3cfcfb2fp+5, 0x1.5a3f58870d66ep+6, 0x1.8ac12aed6bc1fp+6, 0x1.8d8fa7d00ce17p+6, 0x1.8dd459a6536fdp+6}},
    {1000, 0x1.90302e30266c9p+15, 0x1.99caefcf006f3p+5, 0x1.cdba4756ddfbfp+4, 0x1.983f9ec6165d5p+5,
     {0x1.403c02a957b60p-2, 0x1.48407c92e341ep+0, 0x1.ac028167069f2p+4, 0x1.3e35c7ff14aafp+5,
      0x1.983f9ec6165d5p+5, 0x1.69e2b4f894236p+6, 0x1.8c52946299e78p+6, 0x1.8f600aed93467p+6, 0x1.8fb2ea43ea799p+6}},
    {4099, 0x1.936bb4f1ebb24p+17, 0x1.93201eec1f6c6p+5, 0x1.cdc17cf0a0589p+4, 0x1.926629b54476bp+5,
     {0x1.f63659f97db00p-7, 0x1.1df085d9c80cbp+0, 0x1.984d55a270188p+4, 0x1.338d178c2adedp+5,
      0x1.926629b54476bp+5, 0x1.68777b680b350p+6, 0x1.8b9ea57b3e1e7p+6, 0x1.8f5fe48428269p+6, 0x1.8ff3e32417e8ep+6}},
    {20011, 0x1.e9975cbd5473dp+19, 0x1.90da49e8c1b2ap+5, 0x1.d01c785d2335bp+4, 0x1.9118bd693206dp+5,
     {0x1.4aee027ae4500p-7, 0x1.1620aad638127p+0, 0x1.8d370bed3dfcap+4, 0x1.2be7dfb71581dp+5,
      0x1.9118bd693206dp+5, 0x1.6844b1768cf50p+6, 0x1.8bff800d0f6e7p+6, 0x1.8fb16d7626335p+6, 0x1.8ff6406b0f87ep+6}},
};
/* clang-format on */

#endif
