-- Adds a command to its shard's inbox, or answers it from its stored outcome.
--
-- KEYS  1 inbox  2 outcomes of the match  3 refusals of the match  4 floor of the shard's clock
--       5 archived matches  6 why the shard is closed
-- ARGV  1 command id  2 digest (8 bytes)  3 packed command  4 reply channel
--       5 received ms, or '' for TIME  6 most entries the inbox may hold  7 field of the refusals
--       8 most refusals in it  9 ms by which the floor may be ahead of the time
--       10 bit of the match in KEYS 5
-- Returns  {'known', stored outcome} | {'reused'} | {'archived'} | {'refused-too-often'} | {'full'}
--          | {'closed'}
--          | {'queued', entry id, received ms}

local inbox, outcomes, refusals, floor, archived, closed = unpack(KEYS)
local id, digest, payload, reply_to, at, cap, refusal, most_refusals, most_ahead, bit = unpack(ARGV)

-- a key counts as often as it is named: 1 for outcomes, 2 for a closed shard, 4 for refusals; of a match in the
-- archive there are none of its own
local there = redis.call('EXISTS', outcomes, closed, closed, refusals, refusals, refusals, refusals)
if there % 2 == 0 and redis.call('GETBIT', archived, bit) == 1 then
  return {'archived'}
end
local known = there % 2 == 1 and redis.call('HGET', outcomes, id)
if known then
  local first = string.sub(known, 1, 8)
  -- that of an outcome which was restored from the log is not known: see ANY_DIGEST
  if first ~= digest and first ~= string.rep('\0', 8) then
    return {'reused'}
  end
  return {'known', known}
end
if there % 4 >= 2 then
  return {'closed'}
end
if there >= 4 then
  local refused = redis.call('HGET', refusals, refusal)
  if refused and tonumber(refused) >= tonumber(most_refusals) then
    return {'refused-too-often'}
  end
end
local waiting = redis.call('XLEN', inbox)
if waiting >= tonumber(cap) then
  return {'full'}
end
local now, most = tonumber(time_ms(at)), tonumber(most_ahead)
local received = math.max(now, floor_ms(floor, now, most))
if waiting > 0 then
  -- a watermark promises the time of the oldest entry, so none is older than the one before it
  local newest = received_ms(redis.call('XREVRANGE', inbox, '+', '-', 'COUNT', 1))
  if newest <= now + most then
    received = math.max(received, newest)
  end
end
received = string.format('%d', received)
local entry = redis.call('XADD', inbox, '*', 'c', payload, 't', received, 'd', reply_to)
return {'queued', entry, received}
