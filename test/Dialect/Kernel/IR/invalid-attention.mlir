// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @load_queries_width(%x: memref<?x192xf32>, %c: index, %q: memref<60x16xf32>) {
  // expected-error @below {{kernel_c4: expected at least 17 columns of destination, found 16}}
  hexad_kernel.load_queries ins(%x, %c : memref<?x192xf32>, index) outs(%q : memref<60x16xf32>) {scale = 1.0 : f64, width = 17 : i64}
  return
}

// -----

func.func @load_queries_source(%x: memref<?x8xf32>, %c: index, %q: memref<60x16xf32>) {
  // expected-error @below {{kernel_c4: expected at least 12 columns of source, found 8}}
  hexad_kernel.load_queries ins(%x, %c : memref<?x8xf32>, index) outs(%q : memref<60x16xf32>) {scale = 1.0 : f64, width = 12 : i64}
  return
}

// -----

func.func @load_queries_rows(%x: memref<61x192xf32>, %c: index, %q: memref<60x16xf32>) {
  // expected-error @below {{load_queries_c1: expected at least 61 rows of destination, found 60}}
  hexad_kernel.load_queries ins(%x, %c : memref<61x192xf32>, index) outs(%q : memref<60x16xf32>) {scale = 1.0 : f64, width = 12 : i64}
  return
}

// -----

func.func @pack_keys_dynamic(%x: memref<?x192xf32>, %c: index, %page: memref<?x12x32xf32>) {
  // expected-error @below {{kernel_c8: expected a page of static shape, found 'memref<?x12x32xf32>'}}
  hexad_kernel.pack_keys ins(%x, %c : memref<?x192xf32>, index) outs(%page : memref<?x12x32xf32>) {width = 12 : i64}
  return
}

// -----

func.func @pack_keys_panel(%x: memref<?x192xf32>, %c: index, %page: memref<4x12x24xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of page to be a static, positive multiple of 16}}
  hexad_kernel.pack_keys ins(%x, %c : memref<?x192xf32>, index) outs(%page : memref<4x12x24xf32>) {width = 12 : i64}
  return
}

// -----

func.func @pack_keys_depth(%x: memref<?x192xf32>, %c: index, %page: memref<4x16x32xf32>) {
  // expected-error @below {{pack_keys_c1: expected 12 rows of each panel, found 16}}
  hexad_kernel.pack_keys ins(%x, %c : memref<?x192xf32>, index) outs(%page : memref<4x16x32xf32>) {width = 12 : i64}
  return
}

// -----

func.func @pack_keys_keys(%x: memref<129x192xf32>, %c: index, %page: memref<4x12x32xf32>) {
  // expected-error @below {{pack_keys_c2: expected at least 129 keys in the page, found 128}}
  hexad_kernel.pack_keys ins(%x, %c : memref<129x192xf32>, index) outs(%page : memref<4x12x32xf32>) {width = 12 : i64}
  return
}

// -----

func.func @pack_values_columns(%x: memref<?x192xf32>, %c: index, %page: memref<1x128x16xf32>) {
  // expected-error @below {{pack_values_c1: expected at least 17 columns in the page, found 16}}
  hexad_kernel.pack_values ins(%x, %c : memref<?x192xf32>, index) outs(%page : memref<1x128x16xf32>) {width = 17 : i64}
  return
}

// -----

func.func @pack_values_keys(%x: memref<129x192xf32>, %c: index, %page: memref<1x128x16xf32>) {
  // expected-error @below {{pack_values_c2: expected at least 129 keys in the page, found 128}}
  hexad_kernel.pack_values ins(%x, %c : memref<129x192xf32>, index) outs(%page : memref<1x128x16xf32>) {width = 12 : i64}
  return
}

// -----

func.func @softmax_page_padding(%i: index, %scores: memref<60x120xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of scores to be a static, positive multiple of 16}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x120xf32>, memref<6x64xf32>)
  return
}

// -----

func.func @softmax_page_statistics(%i: index, %scores: memref<60x128xf32>, %statistics: memref<6x48xf32>) {
  // expected-error @below {{kernel_c7: expected at least 60 columns of statistics, found 48}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x128xf32>, memref<6x48xf32>)
  return
}

// -----

func.func @start_pages_statistics(%statistics: memref<2x64xf32>, %output: memref<60x64xf32>) {
  // expected-error @below {{kernel_c7: expected 6 rows of statistics, found 2}}
  hexad_kernel.start_pages outs(%statistics, %output : memref<2x64xf32>, memref<60x64xf32>)
  return
}

// -----

func.func @finish_pages_width(%output: memref<60x16xf32>, %statistics: memref<6x64xf32>, %c: index, %y: memref<?x64xf32>) {
  // expected-error @below {{kernel_c4: expected at least 20 columns of output, found 16}}
  hexad_kernel.finish_pages ins(%output, %statistics, %c : memref<60x16xf32>, memref<6x64xf32>, index) outs(%y : memref<?x64xf32>) {width = 20 : i64}
  return
}

// -----

func.func @finish_pages_rows(%output: memref<60x16xf32>, %statistics: memref<6x64xf32>, %c: index, %y: memref<61x64xf32>) {
  // expected-error @below {{finish_pages_c1: expected at least 61 rows of output, found 60}}
  hexad_kernel.finish_pages ins(%output, %statistics, %c : memref<60x16xf32>, memref<6x64xf32>, index) outs(%y : memref<61x64xf32>) {width = 12 : i64}
  return
}

// -----

func.func @softmax_page_causal(%i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{softmax_page_c1: expected a position beside causal or window}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>) {causal}
  return
}

// -----

func.func @softmax_page_window(%i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{softmax_page_c1: expected a position beside causal or window}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>) {window = 8 : i64}
  return
}

// -----

func.func @softmax_page_no_window(%i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{softmax_page_c2: expected a positive window and a finite, positive softcap}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) position(%i) outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>) {window = 0 : i64}
  return
}

// -----

func.func @softmax_page_softcap(%i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{softmax_page_c2: expected a positive window and a finite, positive softcap}}
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>) {softcap = -1.0 : f64}
  return
}

// -----

func.func @page_dynamic(%places: memref<?xi64>, %i: index) {
  // expected-error @below {{page_c1: expected a static shape and no layout, found 'memref<?x4x64x32xf32>'}}
  %p = hexad_kernel.page %places[%i, %i, %i] offset 0 : memref<?xi64> -> memref<?x4x64x32xf32>
  return
}

// -----

func.func @page_layout(%places: memref<?xi64>, %i: index) {
  // expected-error @below {{page_c1: expected a static shape and no layout, found}}
  %p = hexad_kernel.page %places[%i, %i, %i] offset 0 : memref<?xi64> -> memref<4x64x32xf32, strided<[4096, 64, 1]>>
  return
}

// -----

func.func @page_offset(%places: memref<?xi64>, %i: index) {
  // expected-error @below {{page_c2: expected an offset of at least 0, found -64}}
  %p = hexad_kernel.page %places[%i, %i, %i] offset -64 : memref<?xi64> -> memref<4x64x32xf32>
  return
}
