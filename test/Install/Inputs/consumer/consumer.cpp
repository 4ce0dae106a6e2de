// Uses the hexad dialect from an installed Hexad.
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::MLIRContext context;
  auto *dialect = context.getOrLoadDialect<hexad::HexadDialect>();
  llvm::outs() << dialect->getNamespace() << " is loaded\n";
}
