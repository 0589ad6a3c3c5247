module @jit_train_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<64x256xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<256xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<256x256xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<256xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<256x256xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<16xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<256x16xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<i32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<256xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<64x256xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<256xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<256x256xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<256xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<256x256xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<16xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<256x16xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<256xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<64x256xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<256xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<256x256xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<256xf32> {tf.aliasing_output = 21 : i32}, %arg22: tensor<256x256xf32> {tf.aliasing_output = 22 : i32}, %arg23: tensor<16xf32> {tf.aliasing_output = 23 : i32}, %arg24: tensor<256x16xf32> {tf.aliasing_output = 24 : i32}, %arg25: tensor<32x64xf32>, %arg26: tensor<32x16xf32>) -> (tensor<256xf32> {jax.result_info = "result[0]['fc0']['bias']"}, tensor<64x256xf32> {jax.result_info = "result[0]['fc0']['kernel']"}, tensor<256xf32> {jax.result_info = "result[0]['fc1']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[0]['fc1']['kernel']"}, tensor<256xf32> {jax.result_info = "result[0]['fc2']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[0]['fc2']['kernel']"}, tensor<16xf32> {jax.result_info = "result[0]['fc3']['bias']"}, tensor<256x16xf32> {jax.result_info = "result[0]['fc3']['kernel']"}, tensor<i32> {jax.result_info = "result[1][0].count"}, tensor<256xf32> {jax.result_info = "result[1][0].mu['fc0']['bias']"}, tensor<64x256xf32> {jax.result_info = "result[1][0].mu['fc0']['kernel']"}, tensor<256xf32> {jax.result_info = "result[1][0].mu['fc1']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[1][0].mu['fc1']['kernel']"}, tensor<256xf32> {jax.result_info = "result[1][0].mu['fc2']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[1][0].mu['fc2']['kernel']"}, tensor<16xf32> {jax.result_info = "result[1][0].mu['fc3']['bias']"}, tensor<256x16xf32> {jax.result_info = "result[1][0].mu['fc3']['kernel']"}, tensor<256xf32> {jax.result_info = "result[1][0].nu['fc0']['bias']"}, tensor<64x256xf32> {jax.result_info = "result[1][0].nu['fc0']['kernel']"}, tensor<256xf32> {jax.result_info = "result[1][0].nu['fc1']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[1][0].nu['fc1']['kernel']"}, tensor<256xf32> {jax.result_info = "result[1][0].nu['fc2']['bias']"}, tensor<256x256xf32> {jax.result_info = "result[1][0].nu['fc2']['kernel']"}, tensor<16xf32> {jax.result_info = "result[1][0].nu['fc3']['bias']"}, tensor<256x16xf32> {jax.result_info = "result[1][0].nu['fc3']['kernel']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg25, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x64xf32>, tensor<64x256xf32>) -> tensor<32x256xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<256xf32>) -> tensor<1x256xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<32x256xf32>
    %3 = stablehlo.add %0, %2 : tensor<32x256xf32>
    %4 = call @relu(%3) : (tensor<32x256xf32>) -> tensor<32x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %8 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
    %9 = stablehlo.reshape %arg2 : (tensor<256xf32>) -> tensor<1x256xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<32x256xf32>
    %11 = stablehlo.add %8, %10 : tensor<32x256xf32>
    %12 = call @relu(%11) : (tensor<32x256xf32>) -> tensor<32x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %14 = stablehlo.compare GT, %11, %13, FLOAT : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %16 = stablehlo.dot_general %12, %arg5, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
    %17 = stablehlo.reshape %arg4 : (tensor<256xf32>) -> tensor<1x256xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<32x256xf32>
    %19 = stablehlo.add %16, %18 : tensor<32x256xf32>
    %20 = call @relu(%19) : (tensor<32x256xf32>) -> tensor<32x256xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %22 = stablehlo.compare GT, %19, %21, FLOAT : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %24 = stablehlo.dot_general %20, %arg7, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<256x16xf32>) -> tensor<32x16xf32>
    %25 = stablehlo.reshape %arg6 : (tensor<16xf32>) -> tensor<1x16xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<32x16xf32>
    %27 = stablehlo.add %24, %26 : tensor<32x16xf32>
    %28 = stablehlo.subtract %27, %arg26 : tensor<32x16xf32>
    %29 = stablehlo.multiply %28, %28 : tensor<32x16xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %31 = stablehlo.multiply %30, %28 : tensor<32x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %33 = stablehlo.divide %32, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %34 = stablehlo.divide %cst_8, %cst_9 : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %36 = stablehlo.multiply %35, %31 : tensor<32x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %38 = stablehlo.reshape %37 : (tensor<16xf32>) -> tensor<1x16xf32>
    %39 = stablehlo.reshape %38 : (tensor<1x16xf32>) -> tensor<16xf32>
    %40 = stablehlo.dot_general %36, %20, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x16xf32>, tensor<32x256xf32>) -> tensor<16x256xf32>
    %41 = stablehlo.transpose %40, dims = [1, 0] : (tensor<16x256xf32>) -> tensor<256x16xf32>
    %42 = stablehlo.dot_general %36, %arg7, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<32x16xf32>, tensor<256x16xf32>) -> tensor<32x256xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %44 = stablehlo.select %22, %42, %43 : tensor<32x256xi1>, tensor<32x256xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %46 = stablehlo.reshape %45 : (tensor<256xf32>) -> tensor<1x256xf32>
    %47 = stablehlo.reshape %46 : (tensor<1x256xf32>) -> tensor<256xf32>
    %48 = stablehlo.dot_general %44, %12, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %50 = stablehlo.dot_general %44, %arg5, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %52 = stablehlo.select %14, %50, %51 : tensor<32x256xi1>, tensor<32x256xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %54 = stablehlo.reshape %53 : (tensor<256xf32>) -> tensor<1x256xf32>
    %55 = stablehlo.reshape %54 : (tensor<1x256xf32>) -> tensor<256xf32>
    %56 = stablehlo.dot_general %52, %4, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<256x256xf32>
    %57 = stablehlo.transpose %56, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %58 = stablehlo.dot_general %52, %arg3, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<256x256xf32>) -> tensor<32x256xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %60 = stablehlo.select %6, %58, %59 : tensor<32x256xi1>, tensor<32x256xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %62 = stablehlo.reshape %61 : (tensor<256xf32>) -> tensor<1x256xf32>
    %63 = stablehlo.reshape %62 : (tensor<1x256xf32>) -> tensor<256xf32>
    %64 = stablehlo.dot_general %60, %arg25, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<32x256xf32>, tensor<32x64xf32>) -> tensor<256x64xf32>
    %65 = stablehlo.transpose %64, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %67 = stablehlo.multiply %66, %63 : tensor<256xf32>
    %cst_18 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %69 = stablehlo.multiply %68, %arg9 : tensor<256xf32>
    %70 = stablehlo.add %67, %69 : tensor<256xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %72 = stablehlo.multiply %71, %65 : tensor<64x256xf32>
    %cst_20 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %74 = stablehlo.multiply %73, %arg10 : tensor<64x256xf32>
    %75 = stablehlo.add %72, %74 : tensor<64x256xf32>
    %cst_21 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %77 = stablehlo.multiply %76, %55 : tensor<256xf32>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %79 = stablehlo.multiply %78, %arg11 : tensor<256xf32>
    %80 = stablehlo.add %77, %79 : tensor<256xf32>
    %cst_23 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %82 = stablehlo.multiply %81, %57 : tensor<256x256xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %84 = stablehlo.multiply %83, %arg12 : tensor<256x256xf32>
    %85 = stablehlo.add %82, %84 : tensor<256x256xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %87 = stablehlo.multiply %86, %47 : tensor<256xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %89 = stablehlo.multiply %88, %arg13 : tensor<256xf32>
    %90 = stablehlo.add %87, %89 : tensor<256xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %92 = stablehlo.multiply %91, %49 : tensor<256x256xf32>
    %cst_28 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %94 = stablehlo.multiply %93, %arg14 : tensor<256x256xf32>
    %95 = stablehlo.add %92, %94 : tensor<256x256xf32>
    %cst_29 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %97 = stablehlo.multiply %96, %39 : tensor<16xf32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %99 = stablehlo.multiply %98, %arg15 : tensor<16xf32>
    %100 = stablehlo.add %97, %99 : tensor<16xf32>
    %cst_31 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %102 = stablehlo.multiply %101, %41 : tensor<256x16xf32>
    %cst_32 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %104 = stablehlo.multiply %103, %arg16 : tensor<256x16xf32>
    %105 = stablehlo.add %102, %104 : tensor<256x16xf32>
    %106 = stablehlo.multiply %63, %63 : tensor<256xf32>
    %cst_33 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %108 = stablehlo.multiply %107, %106 : tensor<256xf32>
    %cst_34 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %110 = stablehlo.multiply %109, %arg17 : tensor<256xf32>
    %111 = stablehlo.add %108, %110 : tensor<256xf32>
    %112 = stablehlo.multiply %65, %65 : tensor<64x256xf32>
    %cst_35 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %114 = stablehlo.multiply %113, %112 : tensor<64x256xf32>
    %cst_36 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %116 = stablehlo.multiply %115, %arg18 : tensor<64x256xf32>
    %117 = stablehlo.add %114, %116 : tensor<64x256xf32>
    %118 = stablehlo.multiply %55, %55 : tensor<256xf32>
    %cst_37 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %120 = stablehlo.multiply %119, %118 : tensor<256xf32>
    %cst_38 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %122 = stablehlo.multiply %121, %arg19 : tensor<256xf32>
    %123 = stablehlo.add %120, %122 : tensor<256xf32>
    %124 = stablehlo.multiply %57, %57 : tensor<256x256xf32>
    %cst_39 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %126 = stablehlo.multiply %125, %124 : tensor<256x256xf32>
    %cst_40 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %128 = stablehlo.multiply %127, %arg20 : tensor<256x256xf32>
    %129 = stablehlo.add %126, %128 : tensor<256x256xf32>
    %130 = stablehlo.multiply %47, %47 : tensor<256xf32>
    %cst_41 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %132 = stablehlo.multiply %131, %130 : tensor<256xf32>
    %cst_42 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %134 = stablehlo.multiply %133, %arg21 : tensor<256xf32>
    %135 = stablehlo.add %132, %134 : tensor<256xf32>
    %136 = stablehlo.multiply %49, %49 : tensor<256x256xf32>
    %cst_43 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %138 = stablehlo.multiply %137, %136 : tensor<256x256xf32>
    %cst_44 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %140 = stablehlo.multiply %139, %arg22 : tensor<256x256xf32>
    %141 = stablehlo.add %138, %140 : tensor<256x256xf32>
    %142 = stablehlo.multiply %39, %39 : tensor<16xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %144 = stablehlo.multiply %143, %142 : tensor<16xf32>
    %cst_46 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %146 = stablehlo.multiply %145, %arg23 : tensor<16xf32>
    %147 = stablehlo.add %144, %146 : tensor<16xf32>
    %148 = stablehlo.multiply %41, %41 : tensor<256x16xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %150 = stablehlo.multiply %149, %148 : tensor<256x16xf32>
    %cst_48 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %152 = stablehlo.multiply %151, %arg24 : tensor<256x16xf32>
    %153 = stablehlo.add %150, %152 : tensor<256x16xf32>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %154 = stablehlo.compare LT, %arg8, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_49 = stablehlo.constant dense<1> : tensor<i32>
    %155 = stablehlo.add %arg8, %c_49 : tensor<i32>
    %c_50 = stablehlo.constant dense<2147483647> : tensor<i32>
    %156 = call @_where(%154, %155, %c_50) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %cst_51 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %157 = stablehlo.convert %156 : (tensor<i32>) -> tensor<f32>
    %158 = stablehlo.convert %156 : (tensor<i32>) -> tensor<f32>
    %159 = stablehlo.power %cst_51, %158 : tensor<f32>
    %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %160 = stablehlo.subtract %cst_52, %159 : tensor<f32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %162 = stablehlo.divide %70, %161 : tensor<256xf32>
    %163 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %164 = stablehlo.divide %75, %163 : tensor<64x256xf32>
    %165 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %166 = stablehlo.divide %80, %165 : tensor<256xf32>
    %167 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %168 = stablehlo.divide %85, %167 : tensor<256x256xf32>
    %169 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %170 = stablehlo.divide %90, %169 : tensor<256xf32>
    %171 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %172 = stablehlo.divide %95, %171 : tensor<256x256xf32>
    %173 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %174 = stablehlo.divide %100, %173 : tensor<16xf32>
    %175 = stablehlo.broadcast_in_dim %160, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %176 = stablehlo.divide %105, %175 : tensor<256x16xf32>
    %cst_53 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %177 = stablehlo.convert %156 : (tensor<i32>) -> tensor<f32>
    %178 = stablehlo.convert %156 : (tensor<i32>) -> tensor<f32>
    %179 = stablehlo.power %cst_53, %178 : tensor<f32>
    %cst_54 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %180 = stablehlo.subtract %cst_54, %179 : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %182 = stablehlo.divide %111, %181 : tensor<256xf32>
    %183 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %184 = stablehlo.divide %117, %183 : tensor<64x256xf32>
    %185 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %186 = stablehlo.divide %123, %185 : tensor<256xf32>
    %187 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %188 = stablehlo.divide %129, %187 : tensor<256x256xf32>
    %189 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %190 = stablehlo.divide %135, %189 : tensor<256xf32>
    %191 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %192 = stablehlo.divide %141, %191 : tensor<256x256xf32>
    %193 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %194 = stablehlo.divide %147, %193 : tensor<16xf32>
    %195 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %196 = stablehlo.divide %153, %195 : tensor<256x16xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %198 = stablehlo.add %182, %197 : tensor<256xf32>
    %199 = stablehlo.sqrt %198 : tensor<256xf32>
    %cst_56 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %201 = stablehlo.add %199, %200 : tensor<256xf32>
    %202 = stablehlo.divide %162, %201 : tensor<256xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %204 = stablehlo.add %184, %203 : tensor<64x256xf32>
    %205 = stablehlo.sqrt %204 : tensor<64x256xf32>
    %cst_58 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %207 = stablehlo.add %205, %206 : tensor<64x256xf32>
    %208 = stablehlo.divide %164, %207 : tensor<64x256xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %210 = stablehlo.add %186, %209 : tensor<256xf32>
    %211 = stablehlo.sqrt %210 : tensor<256xf32>
    %cst_60 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %213 = stablehlo.add %211, %212 : tensor<256xf32>
    %214 = stablehlo.divide %166, %213 : tensor<256xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %216 = stablehlo.add %188, %215 : tensor<256x256xf32>
    %217 = stablehlo.sqrt %216 : tensor<256x256xf32>
    %cst_62 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %219 = stablehlo.add %217, %218 : tensor<256x256xf32>
    %220 = stablehlo.divide %168, %219 : tensor<256x256xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %222 = stablehlo.add %190, %221 : tensor<256xf32>
    %223 = stablehlo.sqrt %222 : tensor<256xf32>
    %cst_64 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %224 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %225 = stablehlo.add %223, %224 : tensor<256xf32>
    %226 = stablehlo.divide %170, %225 : tensor<256xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %228 = stablehlo.add %192, %227 : tensor<256x256xf32>
    %229 = stablehlo.sqrt %228 : tensor<256x256xf32>
    %cst_66 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %231 = stablehlo.add %229, %230 : tensor<256x256xf32>
    %232 = stablehlo.divide %172, %231 : tensor<256x256xf32>
    %cst_67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %234 = stablehlo.add %194, %233 : tensor<16xf32>
    %235 = stablehlo.sqrt %234 : tensor<16xf32>
    %cst_68 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %237 = stablehlo.add %235, %236 : tensor<16xf32>
    %238 = stablehlo.divide %174, %237 : tensor<16xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %240 = stablehlo.add %196, %239 : tensor<256x16xf32>
    %241 = stablehlo.sqrt %240 : tensor<256x16xf32>
    %cst_70 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %243 = stablehlo.add %241, %242 : tensor<256x16xf32>
    %244 = stablehlo.divide %176, %243 : tensor<256x16xf32>
    %cst_71 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %245 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %246 = stablehlo.multiply %245, %202 : tensor<256xf32>
    %cst_72 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %248 = stablehlo.multiply %247, %208 : tensor<64x256xf32>
    %cst_73 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %250 = stablehlo.multiply %249, %214 : tensor<256xf32>
    %cst_74 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %252 = stablehlo.multiply %251, %220 : tensor<256x256xf32>
    %cst_75 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %253 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %254 = stablehlo.multiply %253, %226 : tensor<256xf32>
    %cst_76 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %256 = stablehlo.multiply %255, %232 : tensor<256x256xf32>
    %cst_77 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %258 = stablehlo.multiply %257, %238 : tensor<16xf32>
    %cst_78 = stablehlo.constant dense<-1.000000e-03> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %260 = stablehlo.multiply %259, %244 : tensor<256x16xf32>
    %261 = stablehlo.add %arg0, %246 : tensor<256xf32>
    %262 = stablehlo.add %arg1, %248 : tensor<64x256xf32>
    %263 = stablehlo.add %arg2, %250 : tensor<256xf32>
    %264 = stablehlo.add %arg3, %252 : tensor<256x256xf32>
    %265 = stablehlo.add %arg4, %254 : tensor<256xf32>
    %266 = stablehlo.add %arg5, %256 : tensor<256x256xf32>
    %267 = stablehlo.add %arg6, %258 : tensor<16xf32>
    %268 = stablehlo.add %arg7, %260 : tensor<256x16xf32>
    return %261, %262, %263, %264, %265, %266, %267, %268, %156, %70, %75, %80, %85, %90, %95, %100, %105, %111, %117, %123, %129, %135, %141, %147, %153, %33 : tensor<256xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<16xf32>, tensor<256x16xf32>, tensor<i32>, tensor<256xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<16xf32>, tensor<256x16xf32>, tensor<256xf32>, tensor<64x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<16xf32>, tensor<256x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<32x256xf32>) -> tensor<32x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x256xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x256xf32>
    return %1 : tensor<32x256xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
