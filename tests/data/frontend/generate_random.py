import jax, jax.numpy as jnp, numpy as np, json, struct
from jax import random as r
out={}
k=r.key(42); kd=lambda k: np.asarray(r.key_data(k))
out['key']=kd(k); out['key_big']=np.asarray([1,5],np.uint32)
out['split3']=kd(r.split(k,3)); out['fold7']=kd(r.fold_in(k,7))
out['bits']=np.asarray(r.bits(k,(3,5)))
out['bits8']=np.asarray(r.bits(k,(7,),jnp.uint8)); out['bits16']=np.asarray(r.bits(k,(7,),jnp.uint16))
out['uniform']=np.asarray(r.uniform(k,(4,6))); out['uniform_range']=np.asarray(r.uniform(k,(9,),minval=-2.,maxval=3.))
out['normal']=np.asarray(r.normal(k,(5,7))); out['truncated']=np.asarray(r.truncated_normal(k,-1.5,2.,(33,)))
out['bernoulli']=np.asarray(r.bernoulli(k,0.3,(20,))); out['randint']=np.asarray(r.randint(k,(20,),-5,17))
out['randint_u8']=np.asarray(r.randint(k,(20,),3,200,jnp.uint8))
out['gumbel']=np.asarray(r.gumbel(k,(11,)))
lg=jnp.asarray(np.linspace(-1,1,12).reshape(3,4),jnp.float32)
out['categorical']=np.asarray(r.categorical(k,lg)); out['exponential']=np.asarray(r.exponential(k,(9,)))
out['uniform_f16']=np.asarray(r.uniform(k,(9,),jnp.float16)); 
out['uniform_bf16']=np.asarray(r.uniform(k,(9,),jnp.bfloat16).astype(jnp.float32))
out['normal_bf16']=np.asarray(r.normal(k,(9,),jnp.bfloat16).astype(jnp.float32))
x=jnp.asarray(np.concatenate([np.linspace(-0.999,0.999,41),[0.99999,-0.999999,1,-1]]),jnp.float32)
out['erf_inv_x']=np.asarray(x); out['erf_inv']=np.asarray(jax.scipy.special.erfinv(x))
with jax.experimental.enable_x64() if hasattr(jax.experimental,'enable_x64') else jax.enable_x64(True):
    k6=r.key(42)
    out['uniform_f64']=np.asarray(r.uniform(k6,(9,),jnp.float64)); out['normal_f64']=np.asarray(r.normal(k6,(9,),jnp.float64)); out['bits64']=np.asarray(r.bits(k6,(7,),jnp.uint64))
    out['randint_s64']=np.asarray(r.randint(k6,(9,),-5,10**12,jnp.int64))
ST={'float32':'F32','float64':'F64','float16':'F16','int32':'I32','int64':'I64','uint32':'U32','uint64':'U64','uint8':'U8','uint16':'U16','bool':'BOOL'}
head,off,blob={},0,b''
for n,a in out.items():
    head[n]={'dtype':ST[str(a.dtype)],'shape':list(a.shape),'data_offsets':[off,off+a.nbytes]}; off+=a.nbytes; blob+=np.ascontiguousarray(a).tobytes()
h=json.dumps(head,separators=(',',':')).encode(); h+=b' '*(-len(h)%8)
import sys
open(sys.argv[1],'wb').write(struct.pack('<Q',len(h))+h+blob)
