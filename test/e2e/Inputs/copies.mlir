// Loops that carry values made elsewhere: attention, values that change places, one
// value twice, pooled rows; an initial value that is used behind the loop.
module @copies {
  hexad.parameter @words : tensor<113x60xf32> from "model.safetensors" ["embeddings.word_embeddings.weight"]
  hexad.parameter @types : tensor<2x60xf32> from "model.safetensors" ["embeddings.token_type_embeddings.weight"]
  hexad.parameter @w : tensor<3x60x60xf32> from "model.safetensors"
      ["encoder.layer.0.attention.output.dense.weight", "encoder.layer.1.attention.output.dense.weight",
       "encoder.layer.2.attention.output.dense.weight"] {layers = 3 : i64}
  func.func @forward(%input_ids: tensor<?x?xi32> {hexad.name = "input_ids", hexad.limit = 113 : i64},
                     %attention_mask: tensor<?x?xi32> {hexad.name = "attention_mask", hexad.optional},
                     %token_type_ids: tensor<?x?xi32> {hexad.name = "token_type_ids", hexad.limit = 2 : i64, hexad.optional})
      -> (tensor<?x?x60xf32> {hexad.name = "last_hidden_state"}, tensor<?x60xf32> {hexad.name = "pooler_output"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %type_ids = hexad.pack_rows %token_type_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %words = hexad.load @words : tensor<113x60xf32>
    %types = hexad.load @types : tensor<2x60xf32>
    %x = hexad.embedding %ids, %words : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
    %y = hexad.embedding %type_ids, %types : tensor<?xi32>, tensor<2x60xf32> -> tensor<?x60xf32>
    %p = hexad.pool first %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
    %q = hexad.pool mean %y, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
    %r:6 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y, %c = %x, %d = %x, %e = %p, %f = %q)
        -> (tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>) {
      %w = hexad.load @w[%i] : tensor<60x60xf32>
      %0 = hexad.linear %a, %w : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      %1 = hexad.attention %0, %b, %d, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.3 : f64}
          : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
      %2 = hexad.linear %e, %w : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      scf.yield %b, %0, %1, %1, %f, %2
          : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32>
    }
    %s = hexad.add %r#0, %r#1 : tensor<?x60xf32>
    %t = hexad.add %r#2, %r#3 : tensor<?x60xf32>
    %u = hexad.add %s, %t : tensor<?x60xf32>
    %v = hexad.add %u, %x : tensor<?x60xf32>
    %rectangle = hexad.unpack_rows %v, %segments : tensor<?x60xf32> -> tensor<?x?x60xf32>
    %pooled = hexad.add %r#4, %r#5 : tensor<?x60xf32>
    return %rectangle, %pooled : tensor<?x?x60xf32>, tensor<?x60xf32>
  }
}
